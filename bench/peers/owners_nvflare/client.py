"""An owner."""
import nvflare.client as flare

import owners_digits

flare.init()
owner = int(flare.get_site_name().split("-")[1]) - 1
while flare.is_running():
    given = flare.receive()
    if given is None:
        break
    weights, n = owners_digits.train(owner, given.params["numpy_key"])
    flare.send(flare.FLModel(params={"numpy_key": weights}, meta={"NUM_STEPS_CURRENT_ROUND": n}))
