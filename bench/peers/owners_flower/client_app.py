"""An owner."""
from flwr.app import ArrayRecord, Message, MetricRecord, RecordDict
from flwr.clientapp import ClientApp

import owners_digits

app = ClientApp()


@app.train()
def train(message, context):
    [weights] = message.content["arrays"].to_numpy_ndarrays()
    weights, n = owners_digits.train(int(context.node_config["partition-id"]), weights)
    found = {"arrays": ArrayRecord([weights]), "metrics": MetricRecord({"num-examples": n})}
    return Message(content=RecordDict(found), reply_to=message)
