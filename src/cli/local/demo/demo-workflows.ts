import type { Client } from "../../../../clients/typescript/src/client.ts";

/** The queue of workflow tasks that the demo works on. */
export const taskQueue = "demo";

const refund = `
dsl: "1"
key: refund
name: Refund an order
description: Checks an order, asks a person about large amounts, pays back and tells the customer.
timeout: 7d
steps:
  - id: check
    task: { queue: ${taskQueue}, type: order.check, errors: [fraud] }
    with: { order: =input.order }
    retry: { max_attempts: 2, initial: 1s }
  - id: decide
    branch:
      - when: =input.amount > 200
        steps:
          - id: approve
            approval:
              by: ["role:admin", "role:operator", "role:workflow_approver"]
              timeout: 2d
              title: "='Refund ' + string(input.amount) + ' EUR for ' + input.order"
              details: { order: =input.order, amount: =input.amount, reason: =input.reason }
      - else:
          - id: small
            transform: { approved: true }
  - id: settle
    parallel:
      branches:
        money:
          - id: pay
            task: { queue: ${taskQueue}, type: payment.refund, errors: [declined] }
            with: { order: =input.order, amount: =input.amount }
            retry: { max_attempts: 2, initial: 1s }
        record:
          - id: log
            stream_append: { stream: ledger, value: { order: =input.order, amount: =input.amount } }
  - id: tell
    notify: { workflow_key: order.shipped, to: =input.customer, payload: { order: =input.order } }
output: { order: =input.order, refunded: =input.amount }
`;

const nightly = `
dsl: "1"
key: nightly.report
name: Nightly report
timeout: 1d
steps:
  - id: collect
    task: { queue: ${taskQueue}, type: report.collect }
  - id: wait
    wait_timer: { for: 10s }
  - id: send
    transform: { sent: true }
`;

/** Publishes the workflows; the first one in two versions, so that they can be compared. */
export async function seedWorkflows(client: Client): Promise<void> {
  await publish(client, refund.replace("amount > 200", "amount > 500"), "First version");
  await publish(client, refund, "Ask a person from 200 EUR");
  await publish(client, nightly, "First version");
}

async function publish(client: Client, text: string, message: string): Promise<void> {
  const { workflow_definition } = await client.workflowDefinitions.import({ text, format: "yaml" });
  await client.workflowDefinitions.publish({ id: workflow_definition!.id, message });
}
