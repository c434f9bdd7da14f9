# %% [markdown]
# # From 30 % coverage to a guarantee, in Python
#
# A classifier of clothes was calibrated on clean photographs. Then the camera begins to shake. Its prediction sets should contain
# the true label 90 times in 100; under heavy motion blur they do so 29 times. Nobody has told you that yet.

# %%
import warnings

from matplotlib import pyplot

import evenkeel as ek

warnings.simplefilter("ignore", ek.ShiftWarning)  # They stand in what is shown below, too.
demo = ek.datasets.demo()
clean, blur = demo["clean"], demo["motion_blur_5"]

# %% [markdown]
# ## The sets in use

# %%
in_use = ek.calibrate(demo.probs_cal, demo.y_cal, clean.probs_target, classes=demo.class_names)
print(in_use)

# %% [markdown]
# ## What can be said without labels
#
# A calibration keeps its data, so that it can be asked whether it still holds.

# %%
report = ek.check(calibration=in_use, probs_target=blur.probs_target)
print(report)

# %% [markdown]
# The loss is plain. Its size is not, and a repair without labels would put most of the ten classes into a set.
#
# ## Fifty rows to label
#
# Which rows is left to the draw: rows that somebody picked, the clear ones or the strange ones, prove nothing about the others.

# %%
rows = ek.choose_rows(len(blur.probs_target), 50)
print("rows to label:", *rows[:8], "...")
print(f"{ek.label_budget(0.05)} labels would tell coverage to within 5 points")

# %% [markdown]
# Somebody labels them. Here the answers are looked up. They are other rows than those of
# [the same story on the command line](../../docs/tutorials/few-labels.md), so the numbers differ a little.

# %%
labels = {int(row): demo.class_names[blur.y_target[row]] for row in rows}
report = ek.check(calibration=in_use, probs_target=blur.probs_target, y_target=labels)
print(report)

# %% [markdown]
# Now it is measured: at most half of the sets hold the label, whatever the model and the blur.
#
# ## The repair, and the guarantee
#
# `update` adds labels to the calibration in use, bit for bit as if all had been there from the start. Who must sign asks for a
# proof instead of an expected error: with `guarantee=0.9` the threshold covers the level in 9 of 10 such draws of labels, whatever
# the model and the blur.

# %%
repaired = in_use.update(blur.probs_target, labels)
signed = ek.calibrate(
    demo.probs_cal, demo.y_cal, blur.probs_target, y_target=labels, guarantee=0.9, classes=demo.class_names, method="few-labels"
)
print(signed.account_)

# %% [markdown]
# ## Did it hold?
#
# In production nobody has two thousand labels. The demo does.

# %%
calibrations = {"in use": in_use, "fifty labels": repaired, "fifty labels, guaranteed": signed}
measured = {name: one.evaluate(blur.probs_test, blur.y_test) for name, one in calibrations.items()}
for name, found in measured.items():
    print(f"{name:26} covers {found['coverage']:.1%} with {found['mean_size']:.2f} labels on average")

# %%
figure, ax = pyplot.subplots(figsize=(7, 2.8), layout="constrained")
shares = [100 * found["coverage"] for found in measured.values()]
ax.barh(list(measured), shares, color=["#d55e00", "#0072b2", "#009e73"])
ax.axvline(90, color="0.4", linestyle="--", linewidth=1)
ax.set(xlabel="coverage of 2000 blurred photographs (%)", xlim=(0, 100))
ax.invert_yaxis()
pyplot.show()

# %% [markdown]
# ## Keeping watch
#
# Labels that trickle in afterwards are counted as they come. The interval holds at every moment at once, so one may look whenever
# one likes.

# %%
covered = signed.predict_set(blur.probs_test)[range(2000), blur.y_test]
sequence, alarm = ek.CoverageSequence(), ek.CoverageAlarm(level=0.9)
counted, low, high = [], [], []
for start in range(0, 400, 10):
    state = sequence.update(covered[start : start + 10])
    alarm_state = alarm.update(covered[start : start + 10])
    counted.append(start + 10)
    low.append(100 * state.low)
    high.append(100 * state.high)
print(state)
print(alarm_state)

# %%
figure, ax = pyplot.subplots(figsize=(7, 3), layout="constrained")
ax.fill_between(counted, low, high, color="#0072b2", alpha=0.3, linewidth=0, label="between these ends, at 95 % confidence")
ax.axhline(90, color="0.4", linestyle="--", linewidth=1, label="level")
ax.set(xlabel="labels so far", ylabel="coverage (%)", ylim=(0, 101))
ax.legend(frameon=False, loc="lower right")
pyplot.show()
