"""The requests that verl's reward client for KernelGYM makes, in its order: POST /evaluate with its payload, backing off
on 429 and 503; GET /status/{id} until it is final; GET /results/{id} only when it is completed."""

import json
import threading
import time
import urllib.error
import urllib.request

from support import ServiceTest, main, until

FINAL = ("completed", "failed", "timeout", "cancelled")
POLL_S = 0.1  # the client's is 1 s; only the number of requests depends on it


def exchange(url, body=None):
    """Status and JSON, errors included."""
    request = urllib.request.Request(url, data=None if body is None else json.dumps(body).encode(),
                                     headers={"Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=60) as response:
            return response.status, json.load(response)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)


def payload(task_id, code):
    return {"task_id": task_id, "reference_code": "", "kernel_code": code, "backend": "triton", "num_correct_trials": 5,
            "num_perf_trials": 100, "timeout": 300, "priority": "normal", "entry_point": "Model", "is_valid": None,
            "verbose_errors": True, "enable_profiling": True, "detect_decoy_kernel": True, "reference_backend": None}


def submit_and_poll(server_url, task, log):
    """What the client returns for one task; every status code goes into `log`."""
    while True:
        status, _ = exchange(f"{server_url}/evaluate", task)
        log.append(status)
        if status == 200:
            break
        if status not in (429, 503):
            return {"status": "failed", "error_message": f"HTTP {status}"}
        time.sleep(POLL_S)
    while True:
        status, data = exchange(f"{server_url}/status/{task['task_id']}")
        if status == 200 and data["status"] in FINAL:
            if data["status"] != "completed":
                return {"status": data["status"], "error_message": data.get("error_message")}
            status, result = exchange(f"{server_url}/results/{task['task_id']}")
            return {**result, "status": "completed"} if status == 200 else {"status": f"HTTP {status}"}
        time.sleep(POLL_S)


class VerlSequence(ServiceTest):
    def test_a_batch_of_rewards(self):
        service = self.serve("--workers", 2, "--max-queue", 8)  # so small that some are asked to come again
        codes = [str(i / 10) for i in range(1, 31)] + ["fail"] * 2
        results, log = {}, []

        def work(index):
            task = payload(f"parallel_task_{index:06d}_{index:08x}", codes[index])
            results[index] = submit_and_poll(service.url, task, log)

        clients = [threading.Thread(target=work, args=(i,)) for i in range(len(codes))]
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        self.assertEqual(log.count(200), len(codes))
        self.assertEqual(set(log) - {200, 503}, set())
        for index, code in enumerate(codes):
            result = results[index]
            self.assertEqual(result["status"], "completed", result)
            self.assertEqual(result["correctness"], code != "fail")
            self.assertEqual(result["speedup"], None if code == "fail" else float(code))
            self.assertFalse(result["decoy_kernel"])
            self.assertTrue(result["compiled"])
        self.assertEqual(service.metric("kernelsmith_evaluation_seconds_count"), len(codes))

    def test_a_lost_answer_is_asked_for_again(self):
        service = self.serve()
        task = payload("parallel_task_000001_abcdef01", "2.0")
        log = []
        first = submit_and_poll(service.url, task, log)
        again = submit_and_poll(service.url, task, log)  # as after a read timeout of the first POST
        self.assertEqual(first, again)
        self.assertEqual(service.metric("kernelsmith_evaluation_seconds_count"), 1)

    def test_a_task_that_ends_otherwise_has_a_reason(self):
        service = self.serve()
        outcome = {}
        client = threading.Thread(target=lambda: outcome.update(submit_and_poll(service.url, payload("t", "hang"), [])))
        client.start()
        until(lambda: service.get("/status/t").status == 200)
        service.ask("DELETE", "/tasks/t")
        client.join()
        self.assertEqual(outcome, {"status": "cancelled", "error_message": "cancelled by a client"})

# The forms of KernelGYM's answers: which fields have to be there, and the types that a field may have.
TEXT, MAYBE_TEXT, COUNT, NUMBER, MAYBE_NUMBER, MAYBE_FLAG = (
    str, (str, type(None)), int, (int, float), (int, float, type(None)), (bool, type(None)))
EVALUATION = {"task_id": TEXT, "status": TEXT, "compiled": MAYBE_FLAG, "correctness": MAYBE_FLAG,
              "decoy_kernel": MAYBE_FLAG, "reference_runtime": MAYBE_NUMBER, "kernel_runtime": MAYBE_NUMBER,
              "speedup": MAYBE_NUMBER, "metadata": (dict, type(None)), "error_message": MAYBE_TEXT,
              "error_code": MAYBE_TEXT, "submitted_at": MAYBE_TEXT, "completed_at": MAYBE_TEXT,
              "processing_time": MAYBE_NUMBER}
STATUS = {"task_id": TEXT, "status": TEXT, "progress": MAYBE_NUMBER, "estimated_completion": MAYBE_TEXT,
          "queue_position": (int, type(None)), "assigned_device": MAYBE_TEXT}
BATCH = {"batch_id": TEXT, "total_tasks": COUNT, "completed_tasks": COUNT, "failed_tasks": COUNT, "results": list,
         "batch_status": TEXT}
HEALTH = {"status": TEXT, "timestamp": TEXT, "gpu_status": dict, "queue_status": dict, "memory_usage": dict,
          "active_tasks": COUNT, "total_processed": COUNT, "uptime": NUMBER}
ERROR = {"error": TEXT, "message": TEXT, "error_code": MAYBE_TEXT, "timestamp": TEXT}


class Forms(ServiceTest):
    def has_form(self, body, form):
        for field, kind in form.items():
            self.assertIn(field, body)
            self.assertIsInstance(body[field], kind, field)

    def test_answers_have_the_forms_of_kernelgym(self):
        service = self.serve("--workers", 1, "--max-queue", 1, "--max-body", 4000)
        for code in ("2", "fail"):
            self.has_form(service.post(code, code).json, EVALUATION)
            self.has_form(service.result(code), EVALUATION)
        self.has_form(service.get("/status/2").json, STATUS)
        batch = service.ask("POST", "/evaluate/batch", {"batch_id": "b", "tasks": [payload("2b", "2")]}).json
        self.has_form(batch, BATCH)
        self.has_form(batch["results"][0], EVALUATION)
        service.result("2b")
        self.has_form(service.get("/health").json, HEALTH)
        service.post("running", "hang")
        until(lambda: service.get("/status/running").json["status"] == "processing")
        service.post("waiting", "1")
        for status, answer in ((400, service.ask("POST", "/evaluate", "{")), (404, service.get("/status/unknown")),
                               (405, service.ask("DELETE", "/health")), (409, service.get("/results/running")),
                               (413, service.post("x", "1" * 5000)), (422, service.post("x", "")),
                               (503, service.post("x", "1"))):
            self.assertEqual(answer.status, status)
            self.has_form(answer.json, ERROR)
            self.assertEqual(answer.json["message"], answer.json["detail"])


if __name__ == "__main__":
    main()
