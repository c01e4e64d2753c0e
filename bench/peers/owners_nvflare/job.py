"""Who adds up, and who begins the run."""
import numpy as np
from nvflare.app_common.np.recipes import NumpyFedAvgRecipe
from nvflare.recipe import SimEnv

import owners_digits

recipe = NumpyFedAvgRecipe(name="digits", model=owners_digits.none().tolist(), min_clients=owners_digits.OWNERS,
                           num_rounds=owners_digits.ROUNDS, train_script="client.py")
run = recipe.execute(SimEnv(num_clients=owners_digits.OWNERS, workspace_root="workspace"))
weights = np.load(run.get_result() + "/server/simulate_job/models/server.npy")
print("\nFOUND", owners_digits.right(weights), flush=True)
