"""scikit-learn's own checks of estimators, all of them: none has to be left out.

`prefit=False`, because the checks fit. `conformalize` and `predict_set` are no part of scikit-learn's conventions and are
tested in test_classifier.py and test_regressor.py.
"""

from __future__ import annotations

from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.utils.estimator_checks import parametrize_with_checks

import evenkeel as ek


@parametrize_with_checks(
    [
        ek.ShiftConformalClassifier(LogisticRegression(), prefit=False),
        ek.ShiftConformalRegressor(LinearRegression(), prefit=False),
    ]
)
def test_an_estimator_like_scikit_learns(estimator, check):
    check(estimator)
