import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { documentedBlock } from "../../docs/markdown.ts";
import { PostgresStore } from "../../faults/driver/postgres-store.ts";
import { operations } from "../../operations/code.ts";
import { isOk } from "../../support/is-ok.ts";
import { docker } from "../support/given.ts";
import { Deployment } from "./deployment.ts";

export const REPLICAS: readonly string[] = ["bot", "bot-2", "bot-3"];

/** Time for Caddy to notice a change, in ms. It checks once a second, and a check may take another second. */
const CADDY_MS = 2_500;

const READY_TIMEOUT_MS = 60_000;
const LOOK_INTERVAL_MS = 100;

/** The inbox's schema in a scaffolded bot. */
const SCHEMA = "service_bot";

const SET_UP = documentedBlock("docs/operate/scaling.md", "replicas").replace(
  "node_modules/service-bot/operations",
  operations,
);
export const UPDATE: string = documentedBlock("docs/operate/scaling.md", "update");

export async function startReplicas(name: string): Promise<Deployment> {
  const deployment = await Deployment.create(name, ["--store", "postgres"]);
  await deployment.project.type(SET_UP);
  await untilReady(deployment);
  return deployment;
}

export async function botContainers({ project }: Deployment): Promise<string[]> {
  const ids: string[] = [];
  for (const replica of REPLICAS) ids.push(await project.container(replica));
  return ids;
}

export async function openStore({ project }: Deployment): Promise<PostgresStore> {
  const [, password = ""] =
    /^PGPASSWORD=(.*)$/m.exec(readFileSync(join(project.dir, ".env"), "utf8")) ?? [];
  const address = await addressOf(await project.container("postgres"));
  const own = `postgres://bot:${password}@${address}:5432/bot`;
  return new PostgresStore({ own, bots: own, schema: SCHEMA }, project.dir);
}

export async function untilReady({ project }: Deployment): Promise<void> {
  for (const replica of REPLICAS) {
    const deadline = performance.now() + READY_TIMEOUT_MS;
    while (!(await isReady(await project.container(replica)))) {
      if (performance.now() > deadline) throw new Error(`${replica} is not ready`);
      await wait(LOOK_INTERVAL_MS);
    }
  }
  await wait(CADDY_MS);
}

async function isReady(container: string): Promise<boolean> {
  const address = await addressOf(container);
  return address !== "" && (await isOk(`http://${address}:3000/readyz`));
}

/** Resolves to a container's address in the Compose network, or to an empty string if it is not running. */
async function addressOf(container: string): Promise<string> {
  const template = "range .NetworkSettings.Networks}}{{json .IPAddress}}{{end";
  return await docker.inspect<string>(container, template);
}
