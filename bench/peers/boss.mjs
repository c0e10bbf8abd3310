import { PgBoss } from "pg-boss";
import { messageEvent } from "../support/message.ts";

export const QUEUE = "event";

export const toJob = (event) => ({ data: messageEvent(event) });

/** Opens pg-boss in its fastest configuration: no schedules, and jobs without groups or keys. @param max connections */
export async function openBoss({ url, schema }, max) {
  const boss = new PgBoss({ connectionString: url, schema, schedule: false, max });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  return boss;
}
