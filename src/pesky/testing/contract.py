"""Every promise of a store's contract as a test, for a subclass that says how to make the store."""

from pesky.testing.crowd import CrowdContract
from pesky.testing.keeping import KeepingContract
from pesky.testing.leases import LeasesContract
from pesky.testing.results import ResultsContract
from pesky.testing.studies import StudiesContract


class StoreContract(StudiesContract, KeepingContract, LeasesContract, ResultsContract, CrowdContract):
    """What every store promises. A subclass, whose name begins with Test, overrides the fixture `store`.

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self, tmp_path):
            return MyStore(tmp_path)

    Where two processes can open the same storage it also overrides `another(store)`, to give a second handle.
    """
