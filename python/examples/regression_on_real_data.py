# %% [markdown]
# # Regression on real data: what each method does under covariate shift, and without one
#
# Data sets that scikit-learn ships. Each is split into training, calibration, target and test points. Target points stay with a probability
# in proportion to `exp(tau d)` (at most 1), `d` a standardised direction: the first principal component, a feature, the prediction. Test points
# are weighted by the same probabilities. The table of `docs/regression.md` is made by this script.

# %%
import argparse

import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_linnerud, load_wine
from sklearn.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn.linear_model import Ridge

import evenkeel as ek

LEVEL = 0.9
METHODS = ("uncorrected", "auto", "calibrated", "likelihood-ratio", "label-plan", "ot")
#: Of a classifier over bins of `y`, whose last three methods are those of classification.
BINS = 15
TILTS = (("none", 0.0), ("component", 1.0), ("component", -1.0), ("feature", 1.0), ("prediction", 1.0), ("prediction", -1.0))


def data_sets():
    cancer, digits, wine, iris = (load().data for load in (load_breast_cancer, load_digits, load_wine, load_iris))
    exercise = load_linnerud()
    return {
        "diabetes": load_diabetes(return_X_y=True),
        "cancer, area": (np.delete(cancer, [0, 2, 3, 20, 22, 23], axis=1), cancer[:, 3]),
        "cancer, concavity": (cancer[:, :6], cancer[:, 6]),
        "cancer, texture": (np.delete(cancer[:, :10], 1, axis=1), cancer[:, 1]),
        "digits, lower half": (digits[:, 8:32], digits[:, 32:].sum(axis=1)),
        "digits, one pixel": (digits[:, 2:64:3], digits[:, 36]),
        "wine, proline": (wine[:, :12], wine[:, 12]),
        "wine, colour": (np.delete(wine, 9, axis=1), wine[:, 9]),
        "iris, petal width": (iris[:, :3], iris[:, 3]),
        "linnerud, waist": (np.column_stack([exercise.data, exercise.target[:, 0]]), exercise.target[:, 1]),
    }


class Binned:
    """A random forest over bins of `y` with the same number of training points."""

    def __init__(self, seed):
        self.forest = RandomForestClassifier(60, min_samples_leaf=3, random_state=seed)

    def fit(self, X, y):
        edges = np.unique(np.quantile(y, np.linspace(0, 1, BINS + 1)))
        self.bin_edges_ = edges
        self.forest.fit(X, np.clip(np.searchsorted(edges, y, side="right") - 1, 0, len(edges) - 2))
        self.classes_ = self.forest.classes_

    def predict_proba(self, X):
        return self.forest.predict_proba(X)

    def predict(self, X):
        centres = (self.bin_edges_[:-1] + self.bin_edges_[1:]) / 2
        return self.predict_proba(X) @ centres[self.classes_]


def covers(conformal, X, y):
    """Which points lie in their interval, or union of bins."""
    _, (unions,) = conformal.predict_union(X)
    return np.array([any(low <= value <= high for low, high in union) for union, value in zip(unions, y)])


def split(X, y, model, tilt, random):
    """Inputs of a model that was fitted; calibration, target and test points, and the weights of these."""
    kind, tau = tilt
    order = random.permutation(len(X))
    train, cal, rest = np.split(order, [int(0.4 * len(X)), int(0.65 * len(X))])
    scale = X[train].std(axis=0)
    Z = (X - X[train].mean(axis=0)) / np.where(scale > 0, scale, 1)
    model.fit(Z[train], y[train])
    if kind == "component":
        direction = Z @ np.linalg.svd(Z[train], full_matrices=False)[2][0]
    elif kind == "feature":
        direction = Z[:, random.integers(X.shape[1])]
    elif kind == "prediction":
        direction = model.predict(Z)
    else:
        direction = np.zeros(len(X))
    spread = direction[train].std()
    odds = np.exp(np.clip(tau * (direction - direction[train].mean()) / (spread if spread > 0 else 1), -5, 5))
    kept = np.minimum(1, odds / np.quantile(odds[train], 0.9))
    target, test = np.array_split(rest, 2)
    return Z, cal, target[random.uniform(size=len(target)) < kept[target]], test, kept[test]


def distances(repeats, names=None, bins=False):
    """`{(data set, "none" or "tilt", method): distances of coverage from the level, in points}`, and how often auto corrected."""
    found, corrected = {}, {}
    for name, (X, y) in data_sets().items():
        if names is not None and name not in names:
            continue
        for repeat in range(repeats):
            random = np.random.default_rng([repeat, len(X)])
            plain = (Ridge(1.0), RandomForestRegressor(30, min_samples_leaf=3, random_state=repeat))
            for model in (Binned(repeat),) if bins else plain:
                for tilt in TILTS:
                    Z, cal, target, test, weights = split(X, y, model, tilt, random)
                    if len(target) == 0:
                        continue  # A tiny data set, and nobody was left.
                    shift = "none" if tilt[0] == "none" else "tilt"
                    for method in METHODS:
                        ours = ek.ShiftConformalRegressor(model, confidence_level=LEVEL, method=method)
                        ours.conformalize(Z[cal], y[cal], Z[target])
                        covered = np.average(covers(ours, Z[test], y[test]), weights=weights)
                        found.setdefault((name, shift, method), []).append(100 * abs(covered - LEVEL))
                        if method == "auto":
                            changed = ours.calibration_.evidence_["decision"] == "corrected"
                            corrected.setdefault((name, shift), []).append(changed)
    return found, corrected


def table(found, corrected):
    names = list(dict.fromkeys(name for name, _, _ in found))
    lines = [f"| data set | shift | {' | '.join(METHODS)} | auto corrects |", "|---|---|" + "---:|" * (len(METHODS) + 1)]
    for shift in ("tilt", "none"):
        for name in names:
            cells = [f"{np.mean(found[name, shift, method]):.1f}" for method in METHODS]
            lines.append(f"| {name} | {shift} | {' | '.join(cells)} | {np.mean(corrected[name, shift]):.0%} |")
        means = [np.mean([np.mean(found[name, shift, method]) for name in names]) for method in METHODS]
        share = np.mean([np.mean(corrected[name, shift]) for name in names])
        lines.append(f"| **mean** | {shift} | {' | '.join(f'**{mean:.1f}**' for mean in means)} | {share:.0%} |")
    return "\n".join(lines)


# %%
if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--repeats", type=int, default=2, help="splits of every data set")
    arguments.add_argument("--data-sets", nargs="*", help="names of some of them")
    arguments.add_argument("--bins", action="store_true", help="a classifier over bins in place of two regressors")
    given, _ = arguments.parse_known_args()
    print(f"Mean distance of coverage from {LEVEL:.0%}, in points; {given.repeats} splits, five tilts and none\n")
    print(table(*distances(given.repeats, given.data_sets, given.bins)))
