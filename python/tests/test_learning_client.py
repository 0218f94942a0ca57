"""RewardClient against a service whose failures are scripted: a candidate gets its own reward, or None with the reason."""

import asyncio
import dataclasses
import pickle
import random
import shutil
import socket
import ssl
import subprocess

import kernelsmith as ks
import pytest
import support
from kernelsmith.learning.client import Candidate, RewardClient
from scripted_service import FAULTS, UNCLEAR, ScriptedService, without_verdict


def client_of(service, **settings):
    """One that is as patient as the tests are, and whose pauses take no time."""
    usual = {"wait_s": 0, "backoff_s": (1e-4, 1e-3), "patience_s": support.PATIENCE_S}
    return RewardClient(service.url, **{**usual, **settings})


def evaluate(codes, settings=None, **script):
    """The rewards of these candidates, and the service that gave them."""

    async def ask():
        async with ScriptedService(**script) as service:
            return await client_of(service, **(settings or {})).evaluate([Candidate(code) for code in codes]), service

    return asyncio.run(asyncio.wait_for(ask(), support.PATIENCE_S))


def test_a_batch_has_the_rewards_in_its_order():
    batch, service = evaluate(["1.5", "wrong", "decoy", "-2", "1.5"])
    assert batch.scores == (1.5, 0.0, 0.0, -2.0, 1.5)
    assert [reward.correct for reward in batch] == [True, False, True, True, True]
    assert [reward.decoy for reward in batch] == [False, False, True, False, False]
    assert [reward.own_share for reward in batch] == [0.25, None, 0.0, 0.25, 0.25]
    assert (batch[1].rejection, batch[1].speedup, batch[1].message) == ("wrong_output", None, "it is wrong")
    assert batch[2].speedup == 2.0 and batch[0].answer and batch[0] is batch[4]
    assert batch.unscored == 0 and str(batch) == "5 candidates, 0 without a score"
    assert {reward.attempts for reward in batch} == {1} and set(service.evaluations.values()) == {1}
    assert len(service.evaluations) == 4 and not service.deleted


@pytest.mark.parametrize("fault", [*FAULTS, *UNCLEAR])
def test_what_is_no_answer_is_asked_for_again(fault):
    batch, service = evaluate(["1.5"], faults=[fault, fault])
    assert (batch[0].score, batch[0].attempts) == (1.5, 3)
    assert len(set(service.asked)) == 1, "under the same id"
    assert set(service.evaluations.values()) == {1}, "and evaluated once"


@pytest.mark.parametrize("fault, reason", [
    ("drop", "network"), ("half a body", "network"), ("no http", "network"), ("503", "busy"), ("429", "busy"),
    ("500", "server_failed"), ("502", "server_failed"), ("no json", "bad_reply"), ("no speedup", "bad_reply"),
    ("no decoy", "bad_reply"), ("a share of 7", "bad_reply")])
def test_no_patience_left_is_no_score(fault, reason):
    batch, service = evaluate(["1.5", "2.5"], {"patience_s": 0}, faults=[fault] * 10)
    assert batch.scores == (None, None) and batch.unscored == 2 and batch.reasons == {reason: 2}
    assert str(batch) == f"2 candidates, 2 without a score: {reason} 2"
    assert all(reward.correct is None and reward.message and not reward.answer for reward in batch)
    assert sorted(service.deleted) == sorted(service.asked), "the service evaluates nothing for nobody"


def test_patience_ends():
    async def ask():
        async with ScriptedService(pending=10**9) as service:
            slow = await client_of(service, patience_s=0.05).reward(Candidate("1.5"))
        return slow, await client_of(service, patience_s=0.05).reward(Candidate("1.5"))

    slow, gone = asyncio.run(ask())
    assert (slow.score, slow.reason, slow.message, slow.attempts) == (None, "timeout", "it is still pending", 1)
    assert (gone.score, gone.reason) == (None, "network")


def test_slow_results_are_waited_for():
    batch, service = evaluate(["1.5", "wrong"], pending=20)
    assert batch.scores == (1.5, 0.0) and [reward.attempts for reward in batch] == [1, 1]
    assert len(service.asked) == 42 and set(service.evaluations.values()) == {1}


def test_a_restart_that_forgets_is_asked_again():
    batch, service = evaluate(["1.5"], faults=[None, None, "drop", "forget", None, "forget"], pending=3)
    assert batch.scores == (1.5,) and batch[0].attempts == 2, "the connection that broke"
    assert service.evaluations == {(1, service.asked[0]): 1, (2, service.asked[0]): 1, (3, service.asked[0]): 1}


def test_a_full_queue_loses_nothing():
    codes = [str(number) for number in range(40)]
    batch, service = evaluate(codes, {"concurrency": 12}, room=3, pending=2)
    assert batch.scores == tuple(range(40)) and max(reward.attempts for reward in batch) > 1
    assert service.most_unfinished == 3 and set(service.evaluations.values()) == {1}


def test_concurrency_is_bounded_over_all_calls():
    async def ask():
        async with ScriptedService(pending=5) as service:
            client = client_of(service, concurrency=4)
            batches = await asyncio.gather(*(client.evaluate([Candidate(f"{i}.{j}") for j in range(10)]) for i in range(3)))
            return [score for batch in batches for score in batch.scores], service.most_unfinished

    scores, most = asyncio.run(ask())
    assert scores == [float(f"{i}.{j}") for i in range(3) for j in range(10)] and most == 4


def test_one_client_serves_one_loop_after_another():
    client = RewardClient("http://127.0.0.1:1", concurrency=1, patience_s=0)
    for _ in range(3):
        assert asyncio.run(client.evaluate([Candidate("1"), Candidate("2")])).reasons == {"network": 2}
    assert len(client._slots) == 1, "closed loops are let go"


FULL = without_verdict("failed", "RESOURCE_ERROR", "disk_full")


@pytest.mark.parametrize("end, ids", [
    (FULL, 1), (without_verdict("failed", "SYSTEM_ERROR"), 1), (without_verdict("timeout", "TIMEOUT_ERROR"), 3),
    (without_verdict("cancelled", None), 3), (without_verdict("cancelled", "SYSTEM_ERROR"), 3)])
def test_an_end_without_a_verdict_is_evaluated_again(end, ids):
    batch, service = evaluate(["1.5"], faults=[end, end])
    assert (batch[0].score, batch[0].attempts) == (1.5, 3)
    first = service.asked[0]
    assert service.asked == ([first] * 3 if ids == 1 else [first, f"{first}.1", f"{first}.2"])
    assert batch[0].id == first and sum(service.evaluations.values()) == 3


@pytest.mark.parametrize("end, reason", [
    (FULL, "disk_full"), (without_verdict("failed", "SYSTEM_ERROR"), "server_failed"),
    (without_verdict("timeout", "TIMEOUT_ERROR"), "timeout")])
def test_evaluations_without_a_verdict_are_limited(end, reason):
    batch, service = evaluate(["1.5"], faults=[end] * 10)
    assert (batch[0].score, batch[0].reason, batch[0].attempts) == (None, reason, 3)
    assert batch[0].message == "the disk is full" and sum(service.evaluations.values()) == 3 and not service.deleted


def test_a_service_that_stops_is_waited_for():
    stopped = without_verdict("cancelled", "RESOURCE_ERROR", message="the service was stopped before this began")
    batch, service = evaluate(["1.5"], {"evaluations": 1}, faults=[stopped, None, "503", "503", "drop", "forget"])
    assert batch.scores == (1.5,) and len(set(service.asked)) == 1


def test_a_reference_that_cannot_be_used_is_not_asked_again():
    batch, service = evaluate(["1.5"], faults=[without_verdict("failed", "VALIDATION_ERROR", "refused")])
    assert (batch[0].score, batch[0].reason, batch[0].attempts) == (None, "refused", 1) and len(service.asked) == 1


def reply(status, detail):
    """A fault: an error of the service."""
    body = '{"detail": "%s"}' % detail
    return f"HTTP/1.1 {status} words\r\nContent-Length: {len(body)}\r\n\r\n{body}".encode()


@pytest.mark.parametrize("status, detail, score, code, rejection", [
    (422, "kernel_code: 10 to 100000 characters are expected, not 5", 0.0, "1.5", "unreadable"),
    (422, "kernel_code: 10 to 100000 characters are expected, not 100001", 0.0, "x" * 100_001, "too_large"),
    (422, "reference_code: 10 to 100000 characters are expected, not 5", None, "1.5", None),
    (409, "the id 'a' is that of another request", None, "1.5", None),
    (413, "the body is larger than 1000 bytes", None, "1.5", None),
    (400, "the body is not JSON", None, "1.5", None), (501, "chunked", None, "1.5", None)])
def test_requests_that_are_refused(monkeypatch, status, detail, score, code, rejection):
    monkeypatch.setitem(FAULTS, "refusal", reply(status, detail))
    batch, service = evaluate([code], faults=["refusal"])
    reason = "bad_input" if score is None else None
    assert dataclasses.astuple(batch[0])[1:4] == (score, reason, detail)
    assert (batch[0].rejection, len(service.asked)) == (rejection, 1)


def test_halves_of_characters_are_not_sent():
    async def ask():
        async with ScriptedService() as service:
            return await client_of(service).evaluate([
                Candidate("1.5\udc80"), Candidate("1.5", "a\ud800"), Candidate("1.5", fields={"entry_point": "\ud800"}),
                Candidate("1.5")]), service

    batch, service = asyncio.run(ask())
    assert batch.scores == (0.0, None, None, 1.5) and len(service.asked) == 1
    assert (batch[0].rejection, batch[0].correct, batch[0].decoy) == ("unreadable", False, False)
    assert batch.reasons == {"bad_input": 2}


@pytest.mark.parametrize("status, code", [
    (401, "permission"), (403, "permission"), (404, "not_found"), (405, "not_found"), (308, "not_found")])
def test_what_no_candidate_can_be_asked_for_is_an_error(monkeypatch, status, code):
    monkeypatch.setitem(FAULTS, "refusal", reply(status, "no"))
    with pytest.raises(ks.Error) as raised:
        evaluate(["1.5", "2.5", "3.5"], faults=[None, "refusal"], pending=10**9)
    assert raised.value.code == code and raised.value.hint


def test_cancelling_cancels_and_the_same_call_resumes():
    async def ask():
        async with ScriptedService(pending=10**9) as service:
            client, candidates = client_of(service, concurrency=3), [Candidate(str(number)) for number in range(5)]
            call = asyncio.create_task(client.evaluate(candidates))
            while len(service.jobs) < 3:
                await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            assert sorted(service.deleted) == sorted(service.jobs), "those that were begun, and no other"
            service.pending = 1
            return await client.evaluate(candidates), await client.evaluate(candidates), service

    first, second, service = asyncio.run(ask())
    assert first.scores == second.scores == (0.0, 1.0, 2.0, 3.0, 4.0)
    assert set(service.evaluations.values()) == {1}
    assert len(service.evaluations) == 5 + 3, "the cancelled ones under a new id"


def test_one_warning_tells_that_nobody_answers(monkeypatch, caplog):
    monkeypatch.setattr("kernelsmith.learning.client.SILENT_S", 0.0)
    with socket.create_server(("127.0.0.1", 0)) as nobody:
        url = f"http://127.0.0.1:{nobody.getsockname()[1]}"
    client = RewardClient(url, wait_s=0, backoff_s=(1e-3, 1e-3), patience_s=0.2)
    batch = asyncio.run(client.evaluate([Candidate(str(number)) for number in range(5)]))
    assert {reward.reason for reward in batch} == {"network"}
    assert [(record.levelname, url in record.getMessage()) for record in caplog.records] == [("WARNING", True)]


def test_in_the_end_everything_has_its_own_score():
    """Whatever goes wrong, in any order, with candidates that are wrong themselves among them."""
    rng = random.Random(20)
    kinds = [*FAULTS, *UNCLEAR, "forget", "forget", "chunked", FULL, without_verdict("timeout", "TIMEOUT_ERROR")]
    faults = [rng.choice(kinds) if rng.random() < 0.5 else None for _ in range(2000)]
    codes = ["wrong" if number % 10 == 0 else f"{number}.5" for number in range(200)]

    async def ask():
        async with ScriptedService(faults, pending=2, room=20) as service:
            client = client_of(service, evaluations=100, concurrency=30)
            return await client.evaluate([Candidate(code, repeat=number) for number, code in enumerate(codes)]), service

    batch, service = asyncio.run(asyncio.wait_for(ask(), support.PATIENCE_S))
    assert batch.scores == tuple(0.0 if code == "wrong" else float(code) for code in codes)
    assert [reward.rejection for reward in batch] == ["wrong_output" if code == "wrong" else None for code in codes]
    assert len({reward.id for reward in batch}) == 200 and service.life > 10


def test_ids_come_from_the_content():
    base = Candidate("code", "reference", fields={"timeout": 60, "entry_point": "Net"})
    assert base.id == Candidate("code", "reference", fields={"entry_point": "Net", "timeout": 60}).id
    others = [Candidate("code"), Candidate("code", "reference"), dataclasses.replace(base, id="", repeat=1),
              Candidate("code", task="reference"), Candidate("codereference"), Candidate("code", "Reference")]
    assert len({base.id, *(other.id for other in others)}) == 7 and len(base.id) == 43
    assert Candidate("code", id="mine").id == "mine" and base.content()["timeout"] == 60
    assert pickle.loads(pickle.dumps(base)) == base and len({base, base}) == 1


@pytest.mark.parametrize("arguments, error", [
    ({"kernel_code": 1}, TypeError), ({"kernel_code": "a", "reference_code": "b", "task": "c"}, ValueError),
    ({"kernel_code": "a", "fields": {"task_id": "b"}}, ValueError), ({"kernel_code": "a", "id": "x" * 81}, ValueError),
    ({"kernel_code": "a", "id": "\udc80"}, ValueError),
    ({"kernel_code": "a", "fields": {"timeout": float("nan")}}, ValueError)])
def test_candidates_that_cannot_be(arguments, error):
    with pytest.raises(error):
        Candidate(**arguments)


@pytest.mark.parametrize("settings", [
    {"url": "127.0.0.1:80"}, {"url": "ftp://a"}, {"url": "http://"}, {"concurrency": 0}, {"evaluations": 0}, {"wait_s": -1},
    {"wait_s": 1.5}, {"backoff_s": (0, 1)}, {"backoff_s": (2, 1)}, {"patience_s": float("inf")}, {"token": "a\r\nb"}])
def test_settings_that_cannot_be(settings):
    with pytest.raises(ValueError):
        RewardClient(**{"url": "http://127.0.0.1:1", **settings})


def test_two_contents_of_one_id_are_refused():
    with pytest.raises(ValueError, match="two candidates have the id 'a'"):
        asyncio.run(RewardClient("http://127.0.0.1:1").evaluate([Candidate("1", id="a"), Candidate("2", id="a")]))


@pytest.mark.parametrize("settings, user, variable, sent", [
    ({"token": "one"}, "any:two@", "three", "one"), ({}, "any:t%77o@", "three", "two"), ({}, "", "three", "three"),
    ({}, "", "", None)])
def test_the_token_is_sent_and_not_shown(monkeypatch, settings, user, variable, sent):
    monkeypatch.setenv("KERNELSMITH_SERVICE_TOKEN", variable)

    async def ask():
        async with ScriptedService() as service:
            client = RewardClient(service.url.replace("//", f"//{user}"), **settings)
            return client, await client.evaluate([Candidate("1.5")]), service

    client, batch, service = asyncio.run(ask())
    given = [line for line in service.headers[0].split("\r\n") if line.startswith("Authorization")]
    assert given == ([f"Authorization: Bearer {sent}"] if sent else []) and batch.scores == (1.5,)
    assert repr(client) == f"RewardClient('{service.url}')"


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate")
def test_tls_is_checked(tmp_path):
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                    "-subj", "/CN=service", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
                   check=True, capture_output=True)
    own = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    own.load_cert_chain(certificate, key)

    async def ask():
        async with ScriptedService(["half a body"], tls=own) as service:
            with pytest.raises(ks.Error) as raised:
                await client_of(service).evaluate([Candidate("1.5")])
            trusting = client_of(service, ssl_context=ssl.create_default_context(cafile=str(certificate)))
            return raised.value.code, (await trusting.evaluate([Candidate("1.5")])).scores

    assert asyncio.run(asyncio.wait_for(ask(), support.PATIENCE_S)) == ("untrusted", (1.5,))


def test_records_cannot_be_changed_and_travel():
    batch, _ = evaluate(["1.5"])
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch[0].score = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        batch.rewards = ()
    assert pickle.loads(pickle.dumps(batch)) == batch and len(batch) == 1
    assert asyncio.run(RewardClient("http://127.0.0.1:1").evaluate([])).scores == ()
