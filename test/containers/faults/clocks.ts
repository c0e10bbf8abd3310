import { chmodSync, globSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Attack, Stage } from "../../faults/driver/fault.ts";
import { Tally } from "../../faults/driver/timeline.ts";
import { spread } from "../../faults/report.ts";
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
export function shiftClock(
  { world }: Stage,
  bots: FaultBots,
  docker: Docker,
  clock: ContainerClock,
): Attack {
  /** Time from a rejected delivery to the reply to the next event, in ms. */
  const takenOverMs: number[] = [];
  const refused = new Tally(world.platform, "delivery", ({ status }) => status === 400);

  async function setClock(offset: string, restart: boolean): Promise<void> {
    const [bot] = world.bots;
    if (restart && bot !== undefined) await world.stop(bot);
    clock.set(offset);
    if (restart) await world.boot();
  }

  async function doctor(): Promise<Finding[]> {
    const command = "node node_modules/.bin/service-bot doctor --json || true";
    return JSON.parse(await docker.run("exec", bots.at().name, "sh", "-c", command)).findings;
  }

  return {
    async once(time) {
      const note = (what: string) => world.violations.push(`${what}, time ${time}`);
      const before = refused.count;
      // Make every second shift before a start, because a bot reads the system time on startup.
      await setClock(OFFSETS[time % 2] ?? "+0", time % 4 > 2 || time % 4 === 0);
      if (!(await refused.reaches(before + 1, REFUSED_TIMEOUT_MS))) {
        note("no delivery was rejected");
      }
      const rejected = performance.now();
      const { id } = world.ledger.write({ from: "ada" });
      if (await world.ledger.waitAnswerTo(id, ANSWER_TIMEOUT_MS)) {
        takenOverMs.push(performance.now() - rejected);
      } else note("polling did not take over");
      const logged = bots.at().lastLines();
      if (!logged.includes("SIGNATURE_STALE")) note(`the log has no reason:\n${logged}`);
      const findings = await doctor();
      if (!findings.some(({ area, level }) => area === "clock" && level === "fail")) {
        note("the doctor accepted the clock");
      }
      await setClock("+0", false);
    },
    judge: () => ({
      figures: {
        "deliveries refused for their date": refused.count,
        ...spread("until an answer by polling", takenOverMs),
      },
    }),
    close: () => clock.remove(),
  };
}

interface Finding {
  readonly area: string;
  readonly level: string;
}
