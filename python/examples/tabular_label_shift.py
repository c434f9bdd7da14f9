# %% [markdown]
# # A table whose classes shift
#
# Loans that are repaid, late or lost. The model was calibrated in a calm year; in the year after, more of them go wrong. That is
# label shift: what a lost loan looks like has not changed, there are only more of them. The table is made here, so that the notebook
# runs anywhere; replace it by yours.

# %%
import warnings

import numpy as np
import pandas
from matplotlib import pyplot
from sklearn.ensemble import HistGradientBoostingClassifier

import evenkeel as ek

warnings.simplefilter("ignore", ek.ShiftWarning)  # They stand in what is shown below, too.
OUTCOMES = ["late", "lost", "repaid"]
CALM, CRISIS = [0.10, 0.05, 0.85], [0.25, 0.25, 0.50]


def loans(rows, shares, seed):
    """A table of applications, and what became of the loans."""
    random = np.random.default_rng(seed)
    outcome = random.choice(3, size=rows, p=shares)
    typical = np.array([[38, 0.42, 4, 2.0], [33, 0.60, 2, 3.5], [47, 0.27, 8, 0.6]])[outcome]
    table = pandas.DataFrame(
        {
            "income": typical[:, 0] * random.lognormal(0, 0.3, rows),
            "debt_share": np.clip(typical[:, 1] + random.normal(0, 0.15, rows), 0, 1),
            "years_employed": random.poisson(typical[:, 2]),
            "missed_payments": random.poisson(typical[:, 3]),
        }
    )
    return table, np.array(OUTCOMES)[outcome]


X_train, y_train = loans(4000, CALM, 0)
X_cal, y_cal = loans(1500, CALM, 1)
X_target, _ = loans(1500, CRISIS, 2)
X_test, y_test = loans(4000, CRISIS, 3)
X_train.head()

# %% [markdown]
# Any classifier of scikit-learn will do, and its labels stay words throughout.

# %%
model = HistGradientBoostingClassifier(max_iter=60, max_depth=3, random_state=0).fit(X_train, y_train)
conformal = ek.ShiftConformalClassifier(model, confidence_level=0.9)
report = conformal.check(X_cal, y_cal, X_target)
print(report)

# %% [markdown]
# ## Before and after
#
# Coverage on average is not all: one threshold may serve the many repaid loans at the cost of the lost ones. `per="class"` asks for
# the level of every class.

# %%
choices = {
    "uncorrected": {"method": "uncorrected"},
    "auto": {"method": "auto"},
    "label-shift": {"method": "label-shift"},
    "label-shift, per class": {"method": "label-shift", "per": "class"},
}
lines = []
for name, choice in choices.items():
    conformal.set_params(**{"per": None, **choice}).conformalize(X_cal, y_cal, X_target)
    _, sets = conformal.predict_set(X_test)
    line = {"method": name, "all": ek.metrics.coverage(sets, y_test), "labels a set": ek.metrics.mean_set_size(sets)}
    line.update({outcome: ek.metrics.coverage(sets[y_test == outcome], y_test[y_test == outcome]) for outcome in OUTCOMES})
    lines.append(line)
table = pandas.DataFrame(lines).set_index("method")[["all", *OUTCOMES, "labels a set"]]
print(table.round(3).to_string())

# %%
ax = (100 * table[["all", *OUTCOMES]]).plot.bar(figsize=(9, 3.8), rot=0, color=["0.6", "#e69f00", "#d55e00", "#009e73"])
ax.axhline(90, color="0.4", linestyle="--", linewidth=1)
ax.set(xlabel="", ylabel="coverage (%)", ylim=(0, 118), title="Coverage in the year of the crisis")
ax.legend(frameon=False, ncols=4, loc="upper right")
pyplot.show()

# %% [markdown]
# What the sets look like, for ten loans:

# %%
predicted, sets = conformal.predict_set(X_test[:10])
for labels, truth in zip(sets.to_labels(), y_test):
    print(f"{truth:8} in {{{', '.join(labels)}}}")

# %% [markdown]
# ## Tables of probabilities
#
# Without a model the same works on tables. Columns are matched by their names, whatever their order; a class too few or too many
# is an error that names it.

# %%
probs_cal = pandas.DataFrame(model.predict_proba(X_cal), columns=model.classes_)
probs_target = pandas.DataFrame(model.predict_proba(X_target), columns=model.classes_)
cal = ek.calibrate(probs_cal, y_cal, probs_target[["repaid", "late", "lost"]], method="label-shift")
assert cal == ek.calibrate(probs_cal, y_cal, probs_target, method="label-shift")
try:
    cal.predict_set(probs_target.rename(columns={"lost": "stolen"}))
except ek.InvalidInputError as error:
    print(error)
