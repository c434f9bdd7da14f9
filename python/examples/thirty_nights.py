# %% [markdown]
# # Thirty nights on call
#
# A model writes a file of probabilities every night. Whoever is on call wants to know three things: is coverage still what was
# promised, since when is it not, and what to do. `evenkeel monitor` answers from one file, without a server and without labels, and
# counts labels when they come. Here it watches twenty quiet nights, five with growing noise and five with growing fog.

# %%
import csv
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from matplotlib import pyplot

import evenkeel as ek

program = os.environ.get("EVENKEEL_CLI") or shutil.which("evenkeel") or str(Path(sys.executable).with_name("evenkeel"))
folder = tempfile.TemporaryDirectory()


def evenkeel(*words):
    """Runs the program in the folder; gives what it printed and its exit code."""
    done = subprocess.run([program, *words], cwd=folder.name, capture_output=True, text=True, encoding="utf-8", check=False)
    if done.returncode > 1:
        raise RuntimeError(done.stderr)
    return done.stdout, done.returncode


# %% [markdown]
# ## Before the first night
#
# The nights ship with the program. The calibration keeps its calibration data: they are the reference that every batch is compared
# with.

# %%
evenkeel("demo", "--nights", "nights")
calibration = ["--cal-probs", "nights/calibration/probs.npy", "--cal-labels", "nights/calibration/labels.npy"]
evenkeel("calibrate", *calibration, "--method", "uncorrected", "--out", "cal.json")
in_use = ek.load(Path(folder.name) / "cal.json")
print(f"threshold {in_use.threshold():.4f}")

# %% [markdown]
# ## The same command every night
#
# `run` takes every file that it does not know yet. Its exit code is 1 when an alarm goes off, which is all that cron needs to send a
# mail. A line says which batch, the coverage to expect with its range, what to make of it, and how much of the evidence that would
# set off the alarm has come together.

# %%
for night in range(1, 31):
    batch = f"nights/2026-10-{night:02}.npy"
    printed, code = evenkeel("monitor", "run", "--reference", "cal.json", "--batches", batch, "--store", "ek.sqlite", "--keep", "rows")
    if code or night in (1, 10, 20, 25, 27, 30):
        print(printed.splitlines()[0] + ("   exit code 1" if code else ""))

# %% [markdown]
# Twenty quiet nights, and no alarm: the chance of *any* false alarm over the whole life of a reference is at most 5 %, however often
# somebody looks. A test of every night at 5 % would be wrong in four of five such months. The mild noise is not enough for an alarm
# with a hundred rows a night. The fog is.
#
# ## What to do

# %%
printed, _ = evenkeel("monitor", "status", "--store", "ek.sqlite")
print(printed)

# %% [markdown]
# The alarm made a proposal. Nothing changes by itself.
#
# ## Labels that come late
#
# Somebody labels forty rows of each night since the noise began, drawn at random: rows that somebody picked prove nothing about the
# others. Each label is judged by the set that its row had when it arrived, so the threshold was fixed before the label was seen.
# Labels have an alarm of their own, which holds however often one looks. Here the answers are looked up in the demo.

# %%
demo = ek.datasets.demo()
clean, noise, fog = (demo[name] for name in ("clean", "gaussian_noise_1", "fog_3"))
known = [(clean.probs_target, clean.y_target), (noise.probs_test, noise.y_test), (fog.probs_test, fog.y_test)]
truth = {row.tobytes(): int(label) for rows, labels in known for row, label in zip(rows, labels)}
for night in range(21, 31):
    rows = np.load(Path(folder.name) / f"nights/2026-10-{night}.npy")
    lines = [f"{row},{truth[rows[row].tobytes()]}" for row in ek.choose_rows(len(rows), 40, random_state=night)]
    (Path(folder.name) / "labels.csv").write_text("\n".join(["row,label", *lines]), encoding="utf-8")
    printed, _ = evenkeel("monitor", "labels", "--store", "ek.sqlite", "--batch", f"2026-10-{night}.npy", "--labels", "labels.csv")
    print(printed.splitlines()[0])
evenkeel("monitor", "propose", "--store", "ek.sqlite")
printed, _ = evenkeel("monitor", "status", "--store", "ek.sqlite")
print(next(line.strip() for line in printed.splitlines() if "Decide on" in line))

# %% [markdown]
# Because the rows were kept (`--keep rows`), `propose` can calibrate with the labels that have arrived. Its proposal takes the place
# of the one before.
#
# ## The month in a picture
#
# `export` writes the history as a table.

# %%
evenkeel("monitor", "export", "--store", "ek.sqlite", "--out", "history.csv")
with open(Path(folder.name) / "history.csv", encoding="utf-8", newline="") as file:
    history = list(csv.DictReader(file))


def column(name):
    """Numbers of a column, in per cent; gaps where there is nothing."""
    return [100 * float(row[name]) if row[name] else float("nan") for row in history]


nights = [int(row["batch"]) for row in history]
alarms = [int(row["batch"]) for row in history if set(row["alarms"].split()) - {"labels"}]
figure, (ax, below) = pyplot.subplots(2, 1, figsize=(8, 5.2), layout="constrained", sharex=True, height_ratios=[2, 1])
ax.fill_between(nights, column("coverage_low"), column("coverage_high"), color="#0072b2", alpha=0.2, linewidth=0)
ax.plot(nights, column("coverage_estimate"), color="#0072b2", marker="o", markersize=3, label="estimated without labels, with its range")
measured, low, high = (column(name) for name in ("coverage_measured", "coverage_measured_low", "coverage_measured_high"))
errors = [[value - end for value, end in zip(measured, low)], [end - value for value, end in zip(measured, high)]]
ax.errorbar(nights, measured, yerr=errors, color="#d55e00", fmt="D", markersize=4, capsize=2, label="counted on labels")
ax.axhline(90, color="0.4", linestyle="--", linewidth=1)
ax.set(ylabel="coverage (%)", ylim=(0, 101))
ax.legend(frameon=False, loc="lower left")
below.plot(nights, [min(value, 500) for value in column("alarm_evidence")], color="0.3")
below.axhline(100, color="0.4", linestyle="--", linewidth=1)
below.set(xlabel="night", ylabel="evidence (%)", ylim=(0, 510))
for axes in (ax, below):
    axes.axvline(alarms[0], color="#cc79a7", linewidth=1.5)
ax.annotate("alarm", (alarms[0], 99), xytext=(-4, -8), textcoords="offset points", ha="right", color="#cc79a7")
pyplot.show()

# %% [markdown]
# The estimates were made without a single label. Nine of the ten counts lie within their ranges; in the thick fog the estimates were too
# gloomy, which their wide ranges say.
#
# ## Decide
#
# Somebody approves the proposal, with a name and a reason, which stand in the audit log. Systems that serve the model take the
# calibration in use from the store, or poll `evenkeel serve` for it.

# %%
reason = "the fog stays until March"
printed, _ = evenkeel("monitor", "approve", "--store", "ek.sqlite", "--who", "Ada", "--why", reason, "--out", "cal-2.json")
print(printed)
evenkeel("monitor", "export", "--store", "ek.sqlite", "--audit", "--out", "audit.csv")
with open(Path(folder.name) / "audit.csv", encoding="utf-8", newline="") as file:
    last = list(csv.DictReader(file))[-1]
print(f"{last['who']}: {last['what']}, {last['details']}")

# %% [markdown]
# ## Was it right?
#
# In production nobody knows. The demo has two thousand labeled photographs in the fog. The nights that version 2 was made of had fog in
# some rows only: where all are foggy it falls a little short of 90 %.

# %%
approved = ek.load(Path(folder.name) / "cal-2.json")
for name, one in {"version 1": in_use, "version 2": approved}.items():
    found = one.evaluate(fog.probs_test, fog.y_test)
    print(f"{name}  covers {found['coverage']:.1%} in the fog with {found['mean_size']:.2f} labels on average")

# %%
folder.cleanup()
