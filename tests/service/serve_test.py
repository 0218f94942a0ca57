"""`kernelsmith serve` as a process: evaluating, refusing, cancelling, stopping."""

import base64
import os
import subprocess
import threading

from support import KERNELSMITH, ServiceTest, main, until


class Serve(ServiceTest):
    def test_a_candidate_is_evaluated_and_a_rejection_has_its_reason(self):
        service = self.serve("--wait", 60, tasks=("hill", "dale"))
        result = service.post("a", "7.5", num_perf_trials=50, workflow="task:dale").json
        self.assertEqual((result["status"], result["compiled"], result["correctness"], result["speedup"]),
                         ("completed", True, True, 7.5))
        self.assertEqual(result["metadata"]["ignored"], ["num_perf_trials"])
        self.assertEqual(result["metadata"]["kernelsmith"]["tier"], "unverified")
        self.assertGreater(result["processing_time"], 0)
        service.post("b", "fail", workflow="task:hill")
        result = service.result("b")
        self.assertEqual((result["status"], result["correctness"], result["error_code"]), ("completed", False, "RUNTIME_ERROR"))
        self.assertIn("no such luck", result["error_message"])
        self.assertEqual(result["metadata"]["kernelsmith"]["rejection"], {"stage": "run", "code": "command_failed"})
        self.assertIn("reference_code is required", service.post("c", "2").json["detail"])
        service.post("d", "hang", path="/evaluate?wait=0", workflow="task:hill")
        answer = service.get("/results/d")
        self.assertEqual((answer.status, answer.headers["Retry-After"]), (409, "1"))

    def test_a_machine_that_cannot_evaluate_gives_no_score(self):
        service = self.serve(program="no-such-program")
        self.assertEqual(service.post("a", "1").status, 200)
        until(lambda: service.get("/status/a").json["error_message"])
        waiting = service.get("/status/a").json
        self.assertEqual((waiting["status"], waiting["error_code"]), ("pending", "RESOURCE_ERROR"))
        self.assertIn("no-such-program", waiting["error_message"])
        refused = service.post("b", "1")
        self.assertEqual((refused.status, refused.json["error_code"]), (503, "RESOURCE_ERROR"))
        self.assertIn("no-such-program", refused.json["detail"])
        self.assertGreaterEqual(int(refused.headers["Retry-After"]), 5)
        self.assertEqual(service.ask("DELETE", "/tasks/a").json["status"], "cancelled")

    def test_cancelling_kills_what_runs(self):
        service = self.serve()
        service.post("a", "hang")
        until(service.candidates_running)
        self.assertEqual(service.ask("DELETE", "/tasks/a").json["status"], "cancelled")
        until(lambda: not service.candidates_running())
        self.assertEqual(service.get("/status/a").json["status"], "cancelled")
        until(lambda: service.metric("kernelsmith_evaluations_under_way") == 0)

    def test_a_full_queue_asks_to_come_again(self):
        service = self.serve("--workers", 1, "--max-queue", 1)
        service.post("running", "hang")
        until(lambda: service.get("/status/running").json["status"] == "processing")
        self.assertEqual(service.post("waiting", "1").status, 200)
        refused = service.post("refused", "1")
        self.assertEqual((refused.status, refused.headers["Retry-After"], refused.json["error_code"]),
                         (503, "5", "RESOURCE_ERROR"))
        self.assertEqual(service.get("/status/waiting").json["queue_position"], 0)
        service.ask("DELETE", "/tasks/running")
        self.assertEqual(service.result("waiting")["status"], "completed")
        self.assertEqual(service.post("refused", "1").status, 200)

    def test_a_token_is_asked_for(self):
        (self.folder / "token").write_text("t0ken\n")
        service = self.serve("--token-file", self.folder / "token")
        self.assertEqual(service.post("a", "1").status, 401)
        self.assertEqual(service.get("/health").status, 200)
        bearer = {"Authorization": "Bearer t0ken"}
        basic = {"Authorization": "Basic " + base64.b64encode(b"anybody:t0ken").decode()}
        self.assertEqual(service.get("/queue/status", headers=bearer).status, 200)
        self.assertEqual(service.get("/queue/status", headers=basic).status, 200)
        self.assertEqual(self.serve(env={"KERNELSMITH_SERVICE_TOKEN": "x"}).get("/metrics").status, 401)

    def test_an_empty_token_is_a_mistake(self):
        done = subprocess.run([KERNELSMITH, "serve", "--port", "0"], capture_output=True, text=True,
                              env={**os.environ, "KERNELSMITH_SERVICE_TOKEN": ""}, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn("the token is empty", done.stderr)

    def test_results_are_forgotten(self):
        service = self.serve("--keep", "0.05s")
        service.post("a", "1")
        until(lambda: service.get("/status/a").status == 404)
        self.assertIn("kept for", service.get("/results/a").json["hint"])

    def test_stopping_finishes_what_runs(self):
        service = self.serve("--workers", 1)
        service.post("running", "slow")
        until(lambda: service.get("/status/running").json["status"] == "processing")
        service.post("waiting", "1")
        service.terminate()
        until(lambda: service.get("/health").json["status"] == "draining")
        refused = service.post("late", "1")
        self.assertEqual((refused.status, refused.headers["Retry-After"]), (503, "30"))
        self.assertEqual(service.result("running")["status"], "completed")
        self.assertEqual(service.get("/status/waiting").json["status"], "cancelled")
        status, errors = service.wait()
        self.assertEqual(status, 0)
        self.assertIn("stopping", errors)

    def test_who_waits_when_the_service_stops_gets_an_answer(self):
        service = self.serve("--drain", "0.1s", "--workers", 1)
        answers = {}

        def submit(name):
            answers[name] = service.post(name, "hang", path="/evaluate?wait=60").json

        clients = [threading.Thread(target=submit, args=(name,)) for name in ("running", "waiting")]
        clients[0].start()
        until(service.candidates_running)
        clients[1].start()
        until(lambda: service.get("/status/waiting").status == 200)
        service.terminate()
        for client in clients:
            client.join()
        self.assertEqual(service.wait()[0], 0)
        self.assertFalse(service.candidates_running())
        for name, words in (("running", "before this ended"), ("waiting", "before this began")):
            self.assertEqual((answers[name]["status"], answers[name]["error_code"]), ("cancelled", "RESOURCE_ERROR"))
            self.assertIn(words, answers[name]["error_message"])


class Refusals(ServiceTest):
    def refused(self, *options, says):
        port = () if "--port" in options else ("--port", "0")
        done = subprocess.run([KERNELSMITH, "serve", *port, *map(str, options)], stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertIn(says, done.stderr)

    def test_what_cannot_be_served(self):
        self.refused("--host", "0.0.0.0", says="--token-file")
        self.refused("--host", "no such host", "--no-token", says="no such host")
        self.refused("--task", self.folder / "nowhere", says="nowhere")
        self.refused("--set", "evaluator.pyton=x", says="python")
        self.refused("--keep", "soon", says="--keep: \"soon\"")
        (self.folder / "empty").write_text("\n")
        self.refused("--token-file", self.folder / "empty", says="no token")

    def test_a_port_in_use(self):
        service = self.serve()
        self.refused("--port", service.url.rpartition(":")[2], says="another program listens")


if __name__ == "__main__":
    main()
