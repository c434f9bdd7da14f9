# %% [markdown]
# # Rows on Spark
#
# A classifier of clothes looks at photographs from three cameras, and what it says lies in a table on a cluster. The sets made from it
# should contain the true label 90 times in 100. Then fog rolls in. This page finds out and repairs the sets where the table lies; what comes to the
# driver is bounded.
#
# Here the cluster is two threads of this machine. On a real one only the address of the session changes; the package must be installed on
# its executors.

# %%
import os
import sys
import warnings

import numpy as np
from matplotlib import pyplot
from pyspark.sql import SparkSession

import evenkeel as ek
from evenkeel import spark as eks

warnings.simplefilter("ignore")
os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # Workers need the package too: here, the Python of this page.
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
settings = {"spark.ui.enabled": "false", "spark.ui.showConsoleProgress": "false", "spark.sql.shuffle.partitions": "4"}
spark = SparkSession.builder.master("local[2]").config(map=settings).getOrCreate()

# %% [markdown]
# ## The tables
#
# The calibration data are small and stay on the driver: a thousand clean photographs with their labels. The rows of tonight have an
# **id**, which chooses samples, and the probabilities as a list. The labels of `later` are known weeks afterwards; they only serve to
# look whether the repair held.

# %%
demo = ek.datasets.demo()
fog = demo["fog_3"]
cameras = np.array(["door", "roof", "yard"])


def table(probs, labels):
    """A Spark table of rows; on a cluster it is there already."""
    rows = [(row, probs[row].tolist(), str(cameras[row % 3]), int(labels[row])) for row in range(len(probs))]
    return spark.createDataFrame(rows, "id long, probs array<float>, camera string, label int").repartition(6)


tonight = table(fog.probs_target, fog.y_target).drop("label")
later = table(fog.probs_test, fog.y_test)
print(tonight.count(), "rows tonight:", ", ".join(f"{name} {kind}" for name, kind in tonight.dtypes))

# %% [markdown]
# ## Is there a shift?
#
# By default a sample of 200 000 rows comes to the driver, or all rows where there are no more. That is nearly always enough, and costs a
# hundredth of reading every row.

# %%
in_use = ek.calibrate(demo.probs_cal, demo.y_cal, demo["clean"].probs_target, classes=demo.class_names)
report = eks.check(tonight, calibration=in_use, key="id")
print(report)

# %% [markdown]
# ## The repair, from every row
#
# With `sample=None` every row counts. A plan goes out, each partition sends back a state, and where there is a shift all rows are read once more.
# States hold sums, and up to 2^21 probabilities of the rows themselves: 210 000 rows of ten classes, so that a small table like this one comes to
# the driver in them. The result does not depend on how the table is cut, on tasks that fail, or on copies that Spark
# starts of slow ones: where ids are the numbers of the rows, it has the bytes of one machine.

# %%
repaired = eks.calibrate(tonight, demo.probs_cal, demo.y_cal, key="id", sample=None, classes=demo.class_names)
print(repaired)
here = ek.calibrate(demo.probs_cal, demo.y_cal, fog.probs_target, classes=demo.class_names)
print("the bytes of one machine:", repaired.to_json() == here.to_json())

# %% [markdown]
# ## Sets, lazily
#
# `predict_set` adds a column. Nothing is read before an action.

# %%
sets = eks.predict_set(later, repaired)
print(", ".join(f"{name} {kind}" for name, kind in sets.dtypes))
for row in sets.orderBy("id").limit(4).collect():
    print(f"row {row.id}, {row.camera} camera:", ", ".join(demo.class_names[label] for label in row.set))

# %% [markdown]
# ## Did it hold, for each camera?
#
# `evaluate` counts on the executors. With `by=` it gives a table with a row for each group.

# %%
measured = {}
for name, calibration in (("in use", in_use), ("repaired", repaired)):
    whole = eks.evaluate(later, calibration)
    print(f"{name:9} covers {whole['coverage']:.1%} with {whole['mean_size']:.2f} labels on average")
    groups = eks.evaluate(later, calibration, by="camera").orderBy("camera").collect()
    measured[name] = [100 * group.coverage for group in groups]

# %%
figure, ax = pyplot.subplots(figsize=(7, 2.8), layout="constrained")
for place, (name, color) in enumerate((("in use", "#d55e00"), ("repaired", "#0072b2"))):
    ax.bar(np.arange(3) + 0.38 * place, measured[name], width=0.36, color=color, label=name)
ax.axhline(90, color="0.4", linestyle="--", linewidth=1)
ax.set(ylabel="coverage (%)", ylim=(0, 100), xticks=np.arange(3) + 0.19, xticklabels=cameras)
ax.legend(frameon=False, loc="lower right")
pyplot.show()

# %% [markdown]
# The repair is cautious: it knows no label of tonight. `check` and `calibrate` take a few by their ids, `y_target={id: label}`, and the sets
# become smaller.
#
# A table that is written while it is read cannot pass for one: every pass is compared with those before it, and other rows are an
# error. For a stream there is `eks.watch`, which checks each batch once. What all of this costs, and when one machine is enough, is in
# the chapter on [rows on a cluster](../../docs/cluster.md).

# %%
spark.stop()
