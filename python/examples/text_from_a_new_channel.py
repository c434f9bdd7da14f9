# %% [markdown]
# # Text from a new channel
#
# A help desk sorts messages into five queues. The classifier and its prediction sets were calibrated on messages of the web form. Then an
# app opens: people type on phones, write less, and misspell more. The messages are made here, from words that each queue likes to use,
# so that the notebook runs anywhere; replace them by yours.

# %%
import warnings

import numpy as np
from matplotlib import pyplot
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline

import evenkeel as ek

warnings.simplefilter("ignore", ek.ShiftWarning)  # They stand in what is shown below, too.
TOPICS = {
    "billing": "invoice charge charged refund payment card bank amount twice month fee balance price tax receipt",
    "delivery": "parcel courier arrived late tracking address door delivery package shipped week waiting missing box driver",
    "login": "password reset account email locked code sign link expired user phone verify access attempts page",
    "product": "broken screen battery button device stopped working light sound charger crack warranty replace smell noise",
    "returns": "return label send back exchange size wrong colour unopened policy days parcel refund box reason",
}
COMMON = "hello please help thanks since today order my the is not can still again I have want need when why".split()
QUEUES = list(TOPICS)


def misspelled(word, random):
    """A word as thumbs type it: a letter is lost, doubled or exchanged."""
    place = int(random.integers(len(word)))
    letter = random.choice(list("abcdefghijklmnopqrstuvwxyz"))
    return [word[:place] + word[place + 1 :], word[: place + 1] + word[place:], word[:place] + letter + word[place + 1 :]][random.integers(3)]


def messages(number, seed, length, typos):
    """Messages with their queues; a third of the telling words belong to another queue, as in life."""
    random = np.random.default_rng(seed)
    texts, labels = [], random.integers(len(QUEUES), size=number)
    for label in labels:
        words = []
        for _ in range(2 + random.poisson(length)):
            queue = label if random.random() < 0.62 else random.integers(len(QUEUES))
            vocabulary = TOPICS[QUEUES[queue]].split() if random.random() < 0.4 else COMMON
            word = vocabulary[random.integers(len(vocabulary))]
            words.append(misspelled(word, random) if random.random() < typos else word)
        texts.append(" ".join(words))
    return texts, np.array(QUEUES)[labels]


WEB, APP = {"length": 14, "typos": 0.02}, {"length": 9, "typos": 0.25}
X_train, y_train = messages(6000, 0, **WEB)
X_cal, y_cal = messages(1000, 1, **WEB)
X_target, y_target = messages(1500, 2, **APP)  # The labels are drawn upon below, fifty of them.
X_test, y_test = messages(4000, 3, **APP)
print("web:", X_cal[0])
print("app:", X_target[0])

# %% [markdown]
# Any classifier will do that gives probabilities. Texts go in as lists; what is read is what the model answers.

# %%
model = make_pipeline(TfidfVectorizer(sublinear_tf=True), LogisticRegression(C=3, max_iter=1000)).fit(X_train, y_train)
print(f"accuracy: web {model.score(X_cal, y_cal):.1%}, app {model.score(X_test, y_test):.1%}")
probs_cal, probs_target, probs_test = (model.predict_proba(X) for X in (X_cal, X_target, X_test))
report = ek.check(probs_cal, y_cal, probs_target, classes=list(model.classes_))
print(report)

# %% [markdown]
# ## Before and after
#
# The sets in use, the repair without labels, and the repair with labels of fifty messages drawn at random.

# %%
rows = ek.choose_rows(len(X_target), 50)
fifty = {int(row): str(y_target[row]) for row in rows}
calibrations = {
    "uncorrected": ek.calibrate(probs_cal, y_cal, probs_target, method="uncorrected", classes=list(model.classes_)),
    "auto": ek.calibrate(probs_cal, y_cal, probs_target, classes=list(model.classes_)),
    "fifty labels": ek.calibrate(probs_cal, y_cal, probs_target, y_target=fifty, classes=list(model.classes_)),
}
found = {}
for name, cal in calibrations.items():
    sets = cal.predict_set(probs_test)
    found[name] = ek.metrics.coverage(sets, y_test), ek.metrics.mean_set_size(sets)
    print(f"{name:14} covers {found[name][0]:.1%} with {found[name][1]:.2f} queues a message")

# %%
figure, (left, right) = pyplot.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for name, (coverage, size) in found.items():
    left.bar(name, 100 * coverage, color="#0072b2")
    right.bar(name, size, color="#e69f00")
left.axhline(90, color="0.4", linestyle="--", linewidth=1)
left.set(ylabel="coverage (%)", ylim=(0, 100), title="messages of the app")
right.set(ylabel="queues a message", title="what it costs")
pyplot.show()

# %% [markdown]
# ## Both channels at once
#
# Where messages of both channels arrive in one stream, a calibration for each keeps the web form as it was. A channel is known when a
# set is made, so it is a group.

# %%
X_later, y_later = messages(1500, 4, **WEB)
both = X_later + X_target
channel = np.repeat(["web", "app"], [len(X_later), len(X_target)])
X_app_cal, y_app_cal = messages(300, 5, **APP)  # Labels that the new channel brought in its first weeks.
grouped = ek.calibrate(
    model.predict_proba(X_cal + X_app_cal),
    np.concatenate([y_cal, y_app_cal]),
    model.predict_proba(both),
    groups_cal=np.repeat(["web", "app"], [len(X_cal), len(X_app_cal)]),
    groups_target=channel,
    classes=list(model.classes_),
)
for name, X, y in (("web", *messages(4000, 6, **WEB)), ("app", X_test, y_test)):
    sets = grouped.predict_set(model.predict_proba(X), groups=np.repeat(name, len(X)))
    print(f"{name}: covers {ek.metrics.coverage(sets, y):.1%} with {ek.metrics.mean_set_size(sets):.2f} queues a message")

# %% [markdown]
# What is sent on, for five messages of the app:

# %%
for text, labels, truth in zip(X_test[:5], sets.to_labels(), y_test):
    print(f"{truth:9} in {{{', '.join(map(str, labels))}}}: {text[:60]}")
