# A workflow worker in a process of its own, for tests that kill it:
# python3 killed_workflow_worker.py <queue> <milliseconds per task>
# It prints a line for each task that it starts. It is an asyncio program, unlike the worker of a pool.
import asyncio
import os
import sys

from switchyard import AsyncClient
from switchyard.workers import create_async_workflow_worker, run_workers_async

queue, task_ms = sys.argv[1:3]


async def work(given, context):
    print(given["key"], flush=True)
    await asyncio.sleep(int(task_ms) / 1000)
    return {"done": given["key"]}


async def main():
    async with AsyncClient(os.environ["ADDRESS"], api_key=os.environ["KEY"]) as client:
        worker = create_async_workflow_worker(client, queue=queue, concurrency=4, handlers={"job.work": work})
        await run_workers_async([worker])


asyncio.run(main())
