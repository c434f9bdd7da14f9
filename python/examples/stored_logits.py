# %% [markdown]
# # From stored logits of any framework
#
# No model is needed: logits that a training job left in files are enough. What is learned here, the command line can use,
# and the other way round.

# %%
import subprocess
import sys
import tempfile
import warnings
from pathlib import Path

import numpy as np

import evenkeel as ek

warnings.simplefilter("ignore", ek.ShiftWarning)  # They stand in what is shown below, too.

# %% [markdown]
# Stand-ins for what a job in PyTorch, JAX or TensorFlow saves. Tensors can be given as they are: anything with DLPack or
# `__array__` is an array.

# %%
demo = ek.datasets.demo()
noisy = demo["gaussian_noise_1"]
logits_cal, labels_cal = np.log(demo.probs_cal + 1e-9), demo.y_cal
logits_target = np.log(noisy.probs_target + 1e-9)
logits_test, labels_test = np.log(noisy.probs_test + 1e-9), noisy.y_test

# %%
report = ek.check(logits_cal, labels_cal, logits_target, logits=True)
print(report)

# %%
cal = ek.calibrate(logits_cal, labels_cal, logits_target, logits=True)
print(cal)

# %% [markdown]
# ## One fit serves every alpha

# %%
for alpha in (0.05, 0.1, 0.2):
    sets = cal.predict_set(logits_test, alpha, logits=True)
    print(
        f"level {1 - alpha:.0%}: covers {ek.metrics.coverage(sets, labels_test):.1%} with "
        f"{ek.metrics.mean_set_size(sets):.2f} labels on average"
    )

# %% [markdown]
# ## Methods side by side, where there are labels to judge by

# %%
rows = ek.compare(logits_cal, labels_cal, logits_target, logits_test, labels_test, ["uncorrected", "ot", "auto"], logits=True)
print(rows.to_pandas()[["method", "threshold", "coverage", "mean_size", "total_coverage_gap"]].round(3).to_string(index=False))

# %% [markdown]
# Coverage at every level, not only at 90 %: how far it is from what was asked for. From a level of about 70 % on the sets of `ot` hold
# nearly every label that is true: the peak is where that begins.

# %%
from matplotlib import pyplot

ek.plot.coverage_gap(rows, ax=pyplot.subplots(figsize=(7, 3.5), layout="constrained")[1])
pyplot.show()

# %% [markdown]
# ## The file is the command line's
#
# `evenkeel predict --calibration cal.json --probs new.npy --logits --out sets.csv` reads it, and `ek.load` reads what
# `evenkeel calibrate` writes.

# %%
with tempfile.TemporaryDirectory() as folder:
    cal.save(Path(folder) / "cal.json")
    assert ek.load(Path(folder) / "cal.json") == cal
    # Another process, another day: only the file is needed.
    code = "import sys, evenkeel as ek; print(ek.load(sys.argv[1]).threshold())"
    told = subprocess.run([sys.executable, "-c", code, Path(folder) / "cal.json"], capture_output=True, text=True, check=True)
    assert float(told.stdout) == cal.threshold()
    print("Read back in another process:", told.stdout.strip())
