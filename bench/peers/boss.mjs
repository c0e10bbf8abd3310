import { PgBoss } from "pg-boss";
import { messageEvent } from "../support/message.ts";

export const QUEUE = "event";

export const toJob = (event) => ({ data: messageEvent(event) });

/** Opens pg-boss without schedules. The jobs of its queue have no groups and no keys. @param max connections */
export async function openBoss({ url, schema }, max) {
  const boss = new PgBoss({ connectionString: url, schema, schedule: false, max });
  boss.on("error", (error) => console.error(error));
  await boss.start();
  await boss.createQueue(QUEUE);
  return boss;
}
