import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Attack, Judgement, Stage } from "../../faults/driver/fault.ts";
import { median } from "../../faults/report.ts";
import type { Docker } from "../engine/docker.ts";
import type { FaultBots } from "../support/fault-bots.ts";

/**
 * Folder of the libfaketime package, or `undefined` if it is not installed. The base images use this machine's Debian,
 * so the library works there too.
 */
export const FAKETIME_FOLDER: string | undefined = globSync("/usr/lib/*-linux-gnu*/faketime")[0];

/** Beyond the age of 300 s that the bot tolerates in a signature. */
const OFFSETS = ["+600", "-600"] as const;

const ANSWER_TIMEOUT_MS = 30_000;
const REFUSED_TIMEOUT_MS = 10_000;

export class ContainerClock {
  readonly flags: readonly string[];
  readonly #folder: string;

  constructor() {
    this.#folder = mkdtempSync(join(tmpdir(), "service-bot-clock-"));
    chmodSync(this.#folder, 0o755);
    this.set("+0");
    const variables = {
      LD_PRELOAD: "/faketime/libfaketimeMT.so.1",
      FAKETIME_TIMESTAMP_FILE: "/clock/offset",
      FAKETIME_CACHE_DURATION: "1",
      // Let the monotonic clock run on, as it does when an administrator changes the time.
      FAKETIME_DONT_FAKE_MONOTONIC: "1",
    };
    this.flags = [
      ...["--volume", `${FAKETIME_FOLDER}:/faketime:ro`, "--volume", `${this.#folder}:/clock:ro`],
      ...Object.entries(variables).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ];
  }

  set(offset: string): void {
    writeFileSync(join(this.#folder, "offset"), `${offset}\n`);
  }

  remove(): void {
    rmSync(this.#folder, { recursive: true });
  }
}

/**
 * Shifts a bot's clock by ±10 min under load, either while the bot is running or before it starts, and then corrects
 * it.
 */
export class Clocks implements Attack {
  readonly #stage: Stage;
  readonly #bots: FaultBots;
  readonly #docker: Docker;
  readonly #clock: ContainerClock;
  /** Time from a rejected delivery to the reply to the next event, in ms. */
  readonly #takenOverMs: number[] = [];
  #refused = 0;

  constructor(stage: Stage, bots: FaultBots, docker: Docker, clock: ContainerClock) {
    this.#stage = stage;
    this.#bots = bots;
    this.#docker = docker;
    this.#clock = clock;
    stage.world.platform.onTimeline((entry) => {
      if (entry.kind === "delivery" && entry.status === 400) this.#refused += 1;
    });
  }

  async once(time: number): Promise<void> {
    const { world } = this.#stage;
    // Make every second shift before a start, because a bot reads the system time on startup.
    const restarts = time % 4 > 2 || time % 4 === 0;
    await this.#setClock(OFFSETS[time % 2] ?? "+0", restarts);
    if (!(await this.#untilRefused())) {
      world.violations.push(`no delivery was rejected, time ${time}`);
    }
    const refused = performance.now();
    const event = world.ledger.write({ from: "ada" });
    if (await this.#untilAnswered(event.id)) this.#takenOverMs.push(performance.now() - refused);
    else world.violations.push(`polling did not take over, time ${time}`);
    const bot = this.#bots.at();
    if (!bot.lastLines().includes("SIGNATURE_STALE")) {
      world.violations.push(
        `the log does not contain the reason, time ${time}:\n${bot.lastLines()}`,
      );
    }
    const findings = await this.#doctor();
    if (!findings.some(({ area, level }) => area === "clock" && level === "fail")) {
      world.violations.push(`the doctor accepted the clock, time ${time}`);
    }
    await this.#setClock("+0", false);
  }

  judge(): Judgement {
    return {
      figures: {
        "deliveries refused for their date": this.#refused,
        "until an answer by polling, median (ms)": Math.round(median(this.#takenOverMs)),
        "until an answer by polling, worst (ms)": Math.round(Math.max(...this.#takenOverMs)),
      },
    };
  }

  close(): void {
    this.#clock.remove();
  }

  async #setClock(offset: string, restart: boolean): Promise<void> {
    const { world } = this.#stage;
    const [bot] = world.bots;
    if (restart && bot !== undefined) await world.stop(bot);
    this.#clock.set(offset);
    if (restart) await world.boot();
  }

  async #untilRefused(): Promise<boolean> {
    const before = this.#refused;
    const deadline = performance.now() + REFUSED_TIMEOUT_MS;
    while (this.#refused === before && performance.now() < deadline) await wait(50);
    return this.#refused > before;
  }

  async #untilAnswered(id: string): Promise<boolean> {
    const { ledger } = this.#stage.world;
    const deadline = performance.now() + ANSWER_TIMEOUT_MS;
    while (!ledger.hasAnswer(id) && performance.now() < deadline) await ledger.waitAnswer(1_000);
    return ledger.hasAnswer(id);
  }

  async #doctor(): Promise<Finding[]> {
    const command = "node node_modules/.bin/service-bot doctor --json || true";
    const output = await this.#docker.run("exec", this.#bots.at().name, "sh", "-c", command);
    return JSON.parse(output).findings;
  }
}

interface Finding {
  readonly area: string;
  readonly level: string;
}
