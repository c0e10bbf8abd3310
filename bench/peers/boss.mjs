import { PgBoss } from "pg-boss";
import { messageEvent } from "../support/message.ts";

export const QUEUE = "event";

export const toJob = (event) => ({ data: messageEvent(event) });

/** pg-boss without schedules, with a queue whose jobs have no groups and no keys. @param max connections */
export async function openBoss({ url, schema }, max) {
  const boss = new PgBoss({ connectionString: url, schema, schedule: false, max });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  return boss;
}
