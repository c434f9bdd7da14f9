"""Threads, Ctrl-C, memory over many calls, and forked children."""

from __future__ import annotations

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time

import numpy as np
import psutil
import pytest

import evenkeel as ek


def long_fit(steps=2_000_000):
    probs = np.random.default_rng(0).dirichlet(np.ones(10), 300)
    return ek.calibrate(probs, np.arange(300) % 10, probs, method="ot", steps=steps)


def test_two_threads_work_at_once():
    """Each thread's own processor time, against the time the other leaves it.

    With the interpreter held around the work the two would take turns, and the first would be done before the second
    had begun.
    """
    steps = 20_000
    long_fit(100)
    started, ended = {}, {}

    def work(name):
        started[name] = time.perf_counter()
        long_fit(steps)
        ended[name] = time.perf_counter()

    workers = [threading.Thread(target=work, args=(name,)) for name in ("one", "two")]
    wall, used, ticks = time.perf_counter(), time.process_time(), 0
    for worker in workers:
        worker.start()
    while any(worker.is_alive() for worker in workers):
        ticks += 1
        time.sleep(0.001)
    wall, used = time.perf_counter() - wall, time.process_time() - used
    overlap = min(ended.values()) - max(started.values())
    assert overlap > 0.5 * wall  # Both were at work for most of the time,
    assert ticks > 20  # and so was this thread.
    if os.cpu_count() > 1 and os.getloadavg()[0] < 1.5:  # Nobody else has the other core:
        assert used > 1.3 * wall  # both cores worked.


@pytest.mark.parametrize(
    "call",
    [
        'ek.calibrate(probs, labels, probs, method="ot", steps=100_000_000)',
        'ek.calibrate(probs, labels, probs, method="ot", weights="function", steps=1_000_000)',
        'ek.compare(probs, labels, probs, probs, labels, ["ot", "uncorrected"], steps=10_000_000)',
    ],
    ids=["free weights", "weight function", "comparison"],
)
def test_ctrl_c_stops_a_long_fit(call):
    script = textwrap.dedent("""
        import sys, numpy as np, evenkeel as ek
        probs = np.random.default_rng(0).dirichlet(np.ones(10), 300)
        labels = np.arange(300) % 10
        print("started", flush=True)
        try:
            CALL
        except KeyboardInterrupt:
            print("interrupted", flush=True)
            # The package still works.
            assert ek.calibrate(probs, np.arange(300) % 10, probs, method="ot", steps=5).steps_ == 5
            sys.exit(7)
    """).replace("CALL", call)
    process = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "started\n"
    time.sleep(0.5)
    assert process.poll() is None
    asked = time.perf_counter()
    process.send_signal(signal.SIGINT)
    rest, _ = process.communicate(timeout=60)
    assert rest == "interrupted\n" and process.returncode == 7
    assert time.perf_counter() - asked < 20


def test_a_signal_handler_that_raises_is_heard():
    class Alarm(Exception):
        pass

    def ring(*_):
        raise Alarm

    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        with pytest.raises(Alarm):
            long_fit(100_000_000)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_ten_thousand_calls_leak_nothing():
    probs = np.random.default_rng(0).dirichlet(np.ones(10), 200)
    labels = np.arange(200) % 10
    process = psutil.Process()

    def calls(count):
        for _ in range(count):
            cal = ek.calibrate(probs, labels, probs, method="uncorrected")
            cal.predict_set(probs)
            cal.weights_, cal.trace_, repr(cal)
            with pytest.raises(ValueError):
                cal.predict_set(-probs)

    calls(2_000)
    gc.collect()
    before = process.memory_info().rss
    calls(10_000)
    gc.collect()
    grown = process.memory_info().rss - before
    # One leaked matrix of 16 kB a call would be 160 MB, one leaked vector of 1.6 kB 16 MB.
    assert grown < 8e6, f"{grown / 1e6:.1f} MB"


def test_a_forked_child_has_threads_of_its_own():
    probs = np.random.default_rng(0).dirichlet(np.ones(10), 5000)
    cal = ek.calibrate(probs, np.arange(5000) % 10, probs, method="uncorrected")
    expected = cal.predict_set(probs)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        found = pool.apply_async(cal.predict_set, (probs,)).get(timeout=60)
    assert np.array_equal(found, expected)
    assert np.array_equal(cal.predict_set(probs), expected)


def test_many_python_threads_get_the_same_answer():
    probs = np.random.default_rng(0).dirichlet(np.ones(10), 300)
    labels = np.arange(300) % 10
    expected = ek.calibrate(probs, labels, probs, method="ot", steps=50)
    found = [None] * 16

    def work(index):
        found[index] = ek.calibrate(probs, labels, probs, method="ot", steps=50)

    workers = [threading.Thread(target=work, args=(index,)) for index in range(16)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert all(one == expected for one in found)
