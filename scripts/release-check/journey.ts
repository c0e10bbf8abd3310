import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { reservePort } from "../../test/support/reserve-port.ts";
import { answers } from "../registry/answers.ts";
import { emptyHome } from "../registry/home.ts";
import { complete, Program, type Surroundings } from "../registry/program.ts";
import { commandsOf } from "../registry/toolchain.ts";
import { isAnswered, SAID } from "./answer.ts";
import { type Cell, nameOf } from "./cells.ts";

export const steps = ["create", "test", "typecheck", "dev", "answer"] as const;

export type Timings = Readonly<Record<(typeof steps)[number], number>>;

export class BrokenJourney extends Error {}

/** Time limit for a step, in ms. Long enough to install packages with an empty cache. */
const TIMEOUT_MS = 240_000;

export interface Dependencies {
  readonly registryUrl: string;
  readonly databaseUrl: () => Promise<string>;
}

/**
 * Creates a bot in an empty directory with an empty home folder, and follows the bot's README.
 *
 * @throws {BrokenJourney}
 */
export async function travel(cell: Cell, dependencies: Dependencies): Promise<Timings> {
  const folder = await mkdtemp(join(tmpdir(), "release check "));
  try {
    const commands = await commandsOf(cell.node, cell.packageManager);
    return await walk(
      cell,
      dependencies,
      await emptyHome(folder, dependencies.registryUrl, commands),
    );
  } finally {
    await rm(folder, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function walk(cell: Cell, dependencies: Dependencies, start: Surroundings): Promise<Timings> {
  const { packageManager } = cell;
  const step = async (name: string, args: readonly string[], at: Surroundings) => {
    const began = performance.now();
    const ended = await complete(packageManager, args, at, TIMEOUT_MS);
    if (ended.code !== 0) throw broken(cell, name, ended.output);
    return { ...ended, seconds: secondsSince(began) };
  };
  const made = await step("create", createArguments(cell), start);
  const bot = { ...start, cwd: join(start.cwd, "my-bot") };
  const tested = await step("test", ["test"], bot);
  const typed = await step("typecheck", ["run", "typecheck"], bot);
  const ran = await runAndAsk(cell, {
    ...bot,
    env: { ...bot.env, ...(await readAddresses(cell, dependencies)) },
  });
  return { create: made.seconds, test: tested.seconds, typecheck: typed.seconds, ...ran };
}

function createArguments({ template, store, packageManager }: Cell): readonly string[] {
  const flags = ["--yes", "--template", template, "--store", store];
  // npm passes on only the arguments after `--`, and pnpm passes on all of them.
  const between = packageManager === "npm" ? ["--"] : [];
  return ["create", "service-bot@latest", "my-bot", ...between, ...flags];
}

async function runAndAsk(cell: Cell, bot: Surroundings): Promise<Pick<Timings, "dev" | "answer">> {
  const began = performance.now();
  const dev = new Program(cell.packageManager, ["run", "dev"], bot);
  try {
    const ready = `http://127.0.0.1:${bot.env["PORT"]}/readyz`;
    if (!(await answers(ready, () => dev.isRunning))) throw broken(cell, "dev", dev.output());
    const seconds = secondsSince(began);
    return { dev: seconds, answer: await ask(cell, bot, dev) };
  } finally {
    dev.kill("SIGINT");
    const timer = setTimeout(() => dev.kill("SIGKILL"), 10_000);
    await dev.ended;
    clearTimeout(timer);
  }
}

async function ask(cell: Cell, bot: Surroundings, dev: Program): Promise<number> {
  const began = performance.now();
  const words = ["trigger", "dm.message", "--from", "ada", "--text", SAID, "--wait", "--json"];
  const args = ["exec", ...(cell.packageManager === "npm" ? ["--"] : []), "service-bot", ...words];
  const { code, stdout, output } = await complete(cell.packageManager, args, bot, TIMEOUT_MS);
  const seconds = secondsSince(began);
  if (code !== 0) throw broken(cell, "answer", `${output}\n${dev.output()}`);
  if (isAnswered(cell.template, stdout.trimEnd().split("\n").at(-1) ?? "")) return seconds;
  throw broken(cell, "answer", `${output}\n${dev.output()}`);
}

async function readAddresses(
  { store }: Cell,
  dependencies: Dependencies,
): Promise<Readonly<Record<string, string>>> {
  return {
    SERVICE_BASE_URL: `http://127.0.0.1:${await reservePort()}`,
    PORT: String(await reservePort()),
    ...(store !== "sqlite" && { DATABASE_URL: await dependencies.databaseUrl() }),
  };
}

function broken(cell: Cell, step: string, output: string): BrokenJourney {
  const last = output.trimEnd().split("\n").slice(-40).join("\n    ");
  return new BrokenJourney(`${nameOf(cell)}: ${step} failed:\n    ${last}`);
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1000;
}
