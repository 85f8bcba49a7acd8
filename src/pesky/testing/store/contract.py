"""Every promise of a store's contract as a test, for a subclass that says how to make the store."""

from pesky.testing.store.concurrency import ConcurrencyContract
from pesky.testing.store.corrections import CorrectionsContract
from pesky.testing.store.leases import LeasesContract
from pesky.testing.store.persistence import PersistenceContract
from pesky.testing.store.results import ResultsContract
from pesky.testing.store.studies import StudiesContract


class StoreContract(
    StudiesContract, PersistenceContract, LeasesContract, ResultsContract, CorrectionsContract, ConcurrencyContract
):
    """What every store promises. A subclass, whose name begins with Test, overrides the fixture `store`.

    class TestMyStore(StoreContract):
        @pytest.fixture
        def store(self, tmp_path):
            return MyStore(tmp_path)

    Where two processes can open the same storage it also overrides `another(store)`, to give a second handle.
    """
