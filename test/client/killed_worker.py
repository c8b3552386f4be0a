# A worker in a process of its own, for tests that kill it:
# python3 killed_worker.py <pool id> <milliseconds per item> <seconds of a lease>
# It prints a line for each item that it starts.
import os
import sys
import time

from switchyard import Client
from switchyard.workers import create_queue_worker, run_workers

pool_id, item_ms, lease_s = sys.argv[1:]


def handle(item, context):
    # print() writes the end of the line by itself, after that of another thread.
    sys.stdout.write(f"{item['key']}\n")
    sys.stdout.flush()
    time.sleep(int(item_ms) / 1000)


client = Client(os.environ["ADDRESS"], api_key=os.environ["KEY"])
run_workers([create_queue_worker(client, pool_id=pool_id, concurrency=4, lease_seconds=int(lease_s), handle=handle)])
