# %% [markdown]
# # A scikit-learn classifier of Fashion-MNIST meets fog
#
# A classifier was calibrated on clean images. The images it now gets are corrupted, and nobody has
# labeled them. How much coverage is lost, and can it be regained?
#
# The repository ships the outputs of a small network on clean and corrupted images (`data/demo`), no images. Its
# log-probabilities are the ten features of a scikit-learn classifier here. With the Debian package
# `dataset-fashion-mnist` installed, `--images /usr/share/datasets/fashion-mnist` trains on the pixels instead.

# %%
import argparse
import gzip
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import evenkeel as ek

DEMO = Path(__file__).resolve().parents[2] / "data" / "demo"


def shipped_features():
    """Features for training and calibration; unlabeled and labeled ones of the target data."""

    def read(name):
        return np.load(DEMO / f"{name}.npy")

    def features(name):
        return np.log(read(name) + 1e-6)

    clean, labels = features("calibration_probs"), read("calibration_labels")
    target = features("fog_3_unlabeled")
    return (clean[:600], labels[:600]), (clean[600:], labels[600:]), target[:400], (features("fog_3_test_probs"), read("fog_3_test_labels"))


def pixels(folder):
    """The same from images; those of the target data are blurred, as with a lens out of focus."""

    def read(name, skip):
        raw = (folder / name).read_bytes() if (folder / name).exists() else gzip.decompress((folder / f"{name}.gz").read_bytes())
        return np.frombuffer(raw, np.uint8, offset=skip)

    images = read("t10k-images-idx3-ubyte", 16).reshape(-1, 784) / 255.0
    labels = read("t10k-labels-idx1-ubyte", 8).astype(int)
    square = images.reshape(-1, 28, 28)
    shifted = [np.roll(square, (down, right), axis=(1, 2)) for down in (-2, 0, 2) for right in (-2, 0, 2)]
    blurred = np.mean(shifted, axis=0).reshape(-1, 784)
    return (images[:2000], labels[:2000]), (images[4000:4400], labels[4000:4400]), blurred[4400:4800], (blurred[5000:7000], labels[5000:7000])


# %%
parser = argparse.ArgumentParser()
parser.add_argument("--images", type=Path, help="folder with the idx files of Fashion-MNIST")
options = parser.parse_args()
train, calibration, X_target, test = pixels(options.images) if options.images else shipped_features()

model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=300)).fit(*train)
print(f"Accuracy on clean images {model.score(*calibration):.3f}, on corrupted ones {model.score(*test):.3f}.\n")

# %% [markdown]
# ## Is coverage at risk? No labels of the target data are needed to ask.

# %%
conformal = ek.ShiftConformalClassifier(model, confidence_level=[0.8, 0.9], method="ot")
print(conformal.check(*calibration, X_target), "\n")

# %% [markdown]
# ## Recalibrate on the unlabeled target data
#
# The last lines use the labels that nobody has in production, to see who was right.

# %%
X_test, y_test = test
for method in ("uncorrected", "ot", "auto"):
    conformal.set_params(method=method).conformalize(*calibration, X_target)
    labels, sets = conformal.predict_set(X_test)
    for index, level in enumerate(conformal.confidence_level):
        print(
            f"{method:12} level {level:.0%}: covers {ek.metrics.coverage(sets[:, :, index], y_test):.1%} "
            f"with {ek.metrics.mean_set_size(sets[:, :, index]):.2f} labels on average"
        )
