// redteam: refused(bad_input)
// twin: honest
// tries: names a file outside its folder

//--- candidate.cpp
int x;
//--- ../../task.hpp
int y;
