// redteam: refused(bad_input)
// twin: honest
// tries: names a file by an absolute path

//--- candidate.cpp
int x;
//--- /tmp/redteam_left.cpp
int y;
