PRAGMA application_id = 1802726772;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE artifacts (
    position INTEGER NOT NULL REFERENCES events(position),
    ordinal INTEGER NOT NULL,
    program INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    name TEXT NOT NULL,
    text BLOB NOT NULL,
    PRIMARY KEY (position, ordinal)
  ) STRICT;
INSERT INTO "artifacts" VALUES(4,0,0,0,'command.out',X'');
INSERT INTO "artifacts" VALUES(4,1,0,0,'command.err',X'');
INSERT INTO "artifacts" VALUES(11,0,1,0,'command.out',X'');
INSERT INTO "artifacts" VALUES(11,1,1,0,'command.err',X'');
INSERT INTO "artifacts" VALUES(15,0,2,0,'command.out',X'');
INSERT INTO "artifacts" VALUES(15,1,2,0,'command.err',X'');
INSERT INTO "artifacts" VALUES(19,0,1,1,'command.out',X'');
INSERT INTO "artifacts" VALUES(19,1,1,1,'command.err',X'6974206973206C6174650A');
CREATE TABLE events (
    position INTEGER PRIMARY KEY,
    source BLOB REFERENCES sources(digest),
    body TEXT NOT NULL
  ) STRICT;
INSERT INTO "events" VALUES(1,NULL,'{"budgets":{"evaluations":4.0},"elapsed_s":0.0,"event":"session_started","settings":{"axes":"\"knob.k\" categorical \"1\" \"2\" \"3\" \"4\" \"5\" \"6\" \"7\" \"8\"","confirm":"true","deterministic":"false","duels":"2","idle_iterations":"256","island.recent_failures":"16","island.rejections":"32","migration":"kind: best, count: 1","migration_period":"0.100000","operators":"operators:,   - operator: tune,     weight: 1","proposer":"kind: tuner, crossover: 0.25, local_step: 0.45, mutation: 0.3, draws: 64","repairs":"0","sampler":"kind: mixture, explore: 0.2, exploit: 0.6, weighted: 0.2, elite_fraction: 0.1, top: 3, inspirations: 2, failures: 2","seed":"1","seeds":"aeb06e3b43121d736db5638b0a4e1313c1d16f60d3273fb5ae5fbdb72e22a98c","seeds_must_pass":"true","task":"28f692e36dda38823f0e12e4f8045913b008a706508b27001f6782b40256857b","topology":"2 islands 0>1 1>0"},"version":"0.1.0"}');
INSERT INTO "events" VALUES(2,NULL,'{"event":"ticket_opened","failures":[],"inspirations":[],"island":0,"model":"","ticket":0,"top":[]}');
INSERT INTO "events" VALUES(3,X'DD3F73125033455E515AE1BF47329F61BF51CAA3B7E7C39F4417636168972887','{"event":"proposal_arrived","proposal":{"child":{"origin":"seed","parents":[],"source":[]},"cost":{"input_tokens":0,"output_tokens":0,"usd":0.0}},"ticket":0}');
INSERT INTO "events" VALUES(4,NULL,'{"attempt":0,"elapsed_s":0.0047416689999408845,"evaluation":{"accepted":true,"metrics":{"features":{},"fitness":{"high":1.0,"low":1.0,"median":1.0,"samples":1,"unit":""}},"report":{"artifacts":[],"hardware":"","shapes":[],"spent_ms":{"run":2.865529},"tier":"unsandboxed","toolchain":"/usr/bin/sh"}},"event":"evaluation_arrived","program":0,"source":"evaluated","ticket":0}');
INSERT INTO "events" VALUES(5,NULL,'{"after":0,"epoch":1,"event":"period_crossed","policy":"migration"}');
INSERT INTO "events" VALUES(6,NULL,'{"after":0,"epoch":2,"event":"period_crossed","policy":"migration"}');
INSERT INTO "events" VALUES(7,NULL,'{"event":"ticket_opened","failures":[],"inspirations":[],"island":1,"model":"","op":"tune","parent":0,"ticket":1,"top":[]}');
INSERT INTO "events" VALUES(8,X'27E70E12E9053EA118B092D09A4A9FE82581A6C1077AD1186FA7880F2E81E176','{"event":"proposal_arrived","proposal":{"child":{"origin":"tune","parents":[0],"source":[]},"cost":{"input_tokens":0,"output_tokens":0,"usd":0.0}},"ticket":1}');
INSERT INTO "events" VALUES(9,NULL,'{"event":"ticket_opened","failures":[],"inspirations":[],"island":0,"model":"","op":"tune","parent":0,"ticket":2,"top":[]}');
INSERT INTO "events" VALUES(10,X'6E398FE59208124B3DB705993A653A991275F7C639F448DAA997C47544A5F2D7','{"event":"proposal_arrived","proposal":{"child":{"origin":"tune","parents":[0],"source":[]},"cost":{"input_tokens":0,"output_tokens":0,"usd":0.0}},"ticket":2}');
INSERT INTO "events" VALUES(11,NULL,'{"attempt":0,"elapsed_s":0.009766391000084695,"evaluation":{"accepted":true,"metrics":{"features":{},"fitness":{"high":8.0,"low":8.0,"median":8.0,"samples":1,"unit":""}},"report":{"artifacts":[],"hardware":"","shapes":[],"spent_ms":{"run":2.9351220000000002},"tier":"unsandboxed","toolchain":"/usr/bin/sh"}},"event":"evaluation_arrived","program":1,"source":"evaluated","ticket":1}');
INSERT INTO "events" VALUES(12,NULL,'{"after":1,"epoch":3,"event":"period_crossed","policy":"migration"}');
INSERT INTO "events" VALUES(13,NULL,'{"after":1,"epoch":4,"event":"period_crossed","policy":"migration"}');
INSERT INTO "events" VALUES(14,NULL,'{"after":1,"epoch":5,"event":"period_crossed","policy":"migration"}');
INSERT INTO "events" VALUES(15,NULL,'{"attempt":0,"elapsed_s":0.014840657999911855,"evaluation":{"accepted":true,"metrics":{"features":{},"fitness":{"high":2.0,"low":2.0,"median":2.0,"samples":1,"unit":""}},"report":{"artifacts":[],"hardware":"","shapes":[],"spent_ms":{"run":2.8668500000000003},"tier":"unsandboxed","toolchain":"/usr/bin/sh"}},"event":"evaluation_arrived","program":2,"source":"evaluated","ticket":2}');
INSERT INTO "events" VALUES(16,NULL,'{"after":2,"epoch":6,"event":"period_crossed","policy":"migration"}');
INSERT INTO "events" VALUES(17,NULL,'{"after":2,"epoch":7,"event":"period_crossed","policy":"migration"}');
INSERT INTO "events" VALUES(18,NULL,'{"event":"ticket_opened","failures":[],"inspirations":[],"island":0,"model":"","parent":1,"remeasurement":"confirm","ticket":3,"top":[]}');
INSERT INTO "events" VALUES(19,NULL,'{"attempt":1,"elapsed_s":0.01768281099998603,"evaluation":{"accepted":false,"code":"command_failed","diagnostics":"the task''s command: exit status 7\nit is late\n","report":{"artifacts":[],"hardware":"","shapes":[],"spent_ms":{"compile":0.0,"run":1.698075},"tier":"unsandboxed","toolchain":"/usr/bin/sh"},"stage":"run"},"event":"evaluation_arrived","program":1,"source":"evaluated","ticket":3}');
INSERT INTO "events" VALUES(20,NULL,'{"after":3,"epoch":8,"event":"period_crossed","policy":"migration"}');
INSERT INTO "events" VALUES(21,NULL,'{"after":3,"epoch":9,"event":"period_crossed","policy":"migration"}');
INSERT INTO "events" VALUES(22,NULL,'{"after":3,"epoch":10,"event":"period_crossed","policy":"migration"}');
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO "meta" VALUES('run_id','49a2e67bec88709c3b8c98de97c08582');
CREATE TABLE sources (digest BLOB PRIMARY KEY, files TEXT NOT NULL) STRICT;
INSERT INTO "sources" VALUES(X'DD3F73125033455E515AE1BF47329F61BF51CAA3B7E7C39F4417636168972887','[{"path":"seed.txt","text":"k = 1  # @tune 1 2 3 4 5 6 7 8\n"}]');
INSERT INTO "sources" VALUES(X'27E70E12E9053EA118B092D09A4A9FE82581A6C1077AD1186FA7880F2E81E176','[{"path":"seed.txt","text":"k = 8  # @tune 1 2 3 4 5 6 7 8\n"}]');
INSERT INTO "sources" VALUES(X'6E398FE59208124B3DB705993A653A991275F7C639F448DAA997C47544A5F2D7','[{"path":"seed.txt","text":"k = 2  # @tune 1 2 3 4 5 6 7 8\n"}]');
CREATE INDEX artifacts_of ON artifacts (program, attempt);
COMMIT;
