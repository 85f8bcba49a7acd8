"""Every promise of a rule as a test, for a subclass that says which rule."""

from pesky.testing.acquisition import AcquisitionContract
from pesky.testing.asking import AskingContract


class RuleContract(AcquisitionContract, AskingContract):
    """What every rule promises. A subclass, whose name begins with Test, overrides the fixture `rule`.

    class TestMyRule(RuleContract):
        @pytest.fixture
        def rule(self):
            return MyRule(samples=20)
    """
