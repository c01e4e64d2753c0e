"""Owners and who adds up, each a device."""
import secretflow as sf
from secretflow.security.aggregation import PlainAggregator

import owners_digits

names = ["owner%d" % k for k in range(owners_digits.OWNERS)]
sf.init(names + ["sum"], address="local")
owners, aggregator = [sf.PYU(name) for name in names], PlainAggregator(sf.PYU("sum"))
weights = sf.PYU("sum")(owners_digits.none)()
for _ in range(owners_digits.ROUNDS):
    found = [owner(owners_digits.train, num_returns=2)(k, weights.to(owner)) for k, owner in enumerate(owners)]
    weights = aggregator.average([w for w, _ in found], axis=0, weights=[n for _, n in found])
print("\nFOUND", owners_digits.right(sf.reveal(weights)), flush=True)
sf.shutdown()
