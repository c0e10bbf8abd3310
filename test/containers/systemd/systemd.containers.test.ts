import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { documentedBlock, pages } from "../../docs/markdown.ts";
import { operations } from "../../operations/code.ts";
import { Unit } from "../../operations/unit.ts";
import { TestProcess } from "../../support/process.ts";
import { reservePort } from "../../support/reserve-port.ts";
import { SCAFFOLD_TIMEOUT_MS, scaffoldedBot } from "../../support/scaffolded.ts";
import { SERVER_PATH } from "../../support/server-path.ts";
import { PlatformProcess } from "../../support/world/platform-process.ts";
import { docker, withEngine } from "../support/given.ts";
import { Machine, whyNoMachine } from "./machine.ts";

const UNIT = "service-bot@my-bot";
const HOME = "/opt/my-bot";
const STATE = "/var/lib/my-bot";

const stopTimeout = Number.parseInt(
  new Unit(join(operations, "service-bot@.service")).value("TimeoutStopSec") ?? "",
  10,
);

const reason = whyNoMachine();
if (reason !== undefined) process.stderr.write(`${reason}\n`);

describe.skipIf(reason !== undefined)("the unit on a booted Debian", () => {
  withEngine("with a bot installed by the commands in docs/deploy/systemd.md", () => {
    let folder: string;
    let machine: Machine;
    let platform: PlatformProcess;
    let conversation: string;
    const texts: string[] = [];

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), "systemd-"));
      await scaffoldedBot(folder, "my-bot", ["--store", "postgres"], {
        npm_config_package_lock_only: "true",
        ...{ GIT_AUTHOR_NAME: "Ada", GIT_AUTHOR_EMAIL: "ada@example.org" },
        ...{ GIT_COMMITTER_NAME: "Ada", GIT_COMMITTER_EMAIL: "ada@example.org" },
      });
      machine = await Machine.create(docker);
      await boot();
    }, SCAFFOLD_TIMEOUT_MS + 300_000);

    afterAll(async () => {
      await machine?.remove();
      rmSync(folder, { recursive: true, force: true });
    });

    async function boot(): Promise<void> {
      const probe = join(import.meta.dirname, "probe.ts");
      await machine.boot({ "/srv/my-bot": join(folder, "my-bot"), "/srv/probe.ts": probe });
      const here = "url.file:///srv/my-bot.insteadOf https://git.example.org/my-bot.git";
      await machine.type(`git config --system ${here}`);
      await machine.type("git config --system safe.directory '*'");
    }

    async function configure(port: number, database: string): Promise<void> {
      const env = [
        ...[`SERVICE_BASE_URL=${platform.url}`, `SERVICE_API_KEY=${platform.apiKey}`],
        ...[
          `SERVICE_WEBHOOK_SECRET=${platform.webhookSecret}`,
          `DATABASE_URL=${database}`,
          `PORT=${port}`,
        ],
      ];
      await machine.type(`cat >>${HOME}/.env <<'END'\n${env.join("\n")}\nEND`);
    }

    async function say(text: string): Promise<string> {
      const message = await platform.write("ada", text);
      conversation = message.conversationId;
      texts.push(text);
      await platform.says(`Hi Ada! You wrote: ${text}`);
      return message.eventId;
    }

    async function expectAnswers(): Promise<void> {
      const answers = texts.map((text) => `Hi Ada! You wrote: ${text}`);
      expect(await platform.answers(conversation)).toEqual(answers);
    }

    test("replies, restarts, keeps its inbox, is updated, and comes back when the machine reboots", async () => {
      const port = await reservePort();
      platform = await PlatformProcess.start();
      await platform.deliverTo(`http://127.0.0.1:${port}`);
      await machine.type(documentedBlock("docs/deploy/systemd.md", "install"));
      const start = documentedBlock("docs/deploy/systemd.md", "start").trimEnd().split("\n");
      const [copied = "", reloaded = "", enabled = "", follow = "", ...more] = start;
      expect(more).toEqual([]);
      await machine.type(`${copied}\n${reloaded}`, HOME);

      // .env.example contains no token, so the bot exits with code 2, and systemd does not restart it.
      await machine.type(enabled);
      await machine.until(UNIT, "ActiveState", "failed");
      expect(await machine.property(UNIT, "ExecMainStatus")).toBe("2");
      expect(await machine.property(UNIT, "NRestarts")).toBe("0");
      expect(await machine.journal(UNIT)).toContain("SERVICE_API_KEY");

      await configure(port, `file:${STATE}/bot.db`);
      await machine.type(enabled);
      const [command, ...args] = machine.command(follow);
      const following = new TestProcess(args, { command, env: { PATH: SERVER_PATH } });
      await following.message("ready");
      const event = await say("by systemd");
      expect(await platform.delivery({ eventId: event })).toMatchObject({ status: 200 });

      const doctor = documentedBlock("docs/deploy/systemd.md", "doctor");
      expect(await machine.type(doctor)).toContain(`${STATE}/bot.db can be written`);

      await machine.type(`systemctl kill --signal SIGKILL ${UNIT}`);
      const killed = performance.now();
      await say("while it was dead");
      console.info(`after SIGKILL the answer came in ${seconds(killed)}`);
      expect(await machine.property(UNIT, "NRestarts")).toBe("1");
      const again = await platform.control.deliver({ eventIds: [event] });
      expect(again).toMatchObject([{ status: 200 }]);

      await machine.type(documentedBlock("docs/deploy/systemd.md", "update"));
      await say("after an update");
      expect(await machine.property(UNIT, "Result")).toBe("success");

      const stopping = performance.now();
      await machine.type(`systemctl stop ${UNIT}`);
      console.info(`systemctl stop took ${seconds(stopping)}`);
      expect(await machine.property(UNIT, "Result")).toBe("success");
      expect(await machine.property(UNIT, "ExecMainStatus")).toBe("0");

      // An enabled unit starts at boot, and the bot reads the events it missed.
      await platform.write("ada", "while the machine was off");
      texts.push("while the machine was off");
      following.kill("SIGKILL");
      await machine.powerOff();
      await boot();
      await platform.says("Hi Ada! You wrote: while the machine was off");
      await expectAnswers();

      const lines = (await machine.journal(`${UNIT} --boot SYSLOG_IDENTIFIER=node`)).split("\n");
      for (const line of lines) expect(JSON.parse(line)).toHaveProperty("msg");
      const owner = `stat --format "%U %a" ${STATE} ${STATE}/bot.db`;
      expect(await machine.type(owner)).toBe("my-bot 700\nmy-bot 600");
    }, 300_000);

    test("with its inbox in PostgreSQL on the same machine, waits for the database and comes back after a reboot", async () => {
      const port = await reservePort();
      platform = await PlatformProcess.start();
      await platform.deliverTo(`http://127.0.0.1:${port}`);
      texts.length = 0;
      // Listen only on the Unix socket, because another server may be using the port.
      await machine.type("pg_conftool 15 main set listen_addresses ''");
      await machine.type("systemctl enable --now postgresql");
      await machine.type(documentedBlock("docs/deploy/systemd.md", "database"));
      const page = pages.find(({ path }) => path === "docs/deploy/systemd.md");
      const [, database = ""] =
        /`DATABASE_URL=(postgres:\/\/\/[^`]+)`/.exec(page?.text ?? "") ?? [];
      await configure(port, database);
      await machine.type(`systemctl restart ${UNIT}`);
      const event = await say("into PostgreSQL");

      await machine.type("systemctl stop postgresql@15-main");
      const refused = await platform.write("ada", "without a database");
      texts.push("without a database");
      await platform.delivery(refused, 503);
      const started = performance.now();
      await machine.type("systemctl start postgresql@15-main");
      await platform.says("Hi Ada! You wrote: without a database");
      console.info(`with PostgreSQL back the answer came in ${seconds(started)}`);

      await machine.powerOff();
      await boot();
      await say("after a boot");
      const again = await platform.control.deliver({ eventIds: [event] });
      expect(again).toMatchObject([{ status: 200 }]);
      await expectAnswers();
    }, 300_000);

    test("denies what a bot does not need", async () => {
      await machine.type(`
        useradd --system --home-dir /var/lib/probe --shell /usr/sbin/nologin probe
        mkdir -p /opt/probe/src
        cp /srv/probe.ts /opt/probe/src/main.ts
        ln -s ${HOME}/node_modules ${HOME}/package.json /opt/probe/
        touch /opt/probe/.env
        chown -R probe /opt/probe`);
      const run = "node src/main.ts --once";
      const free = JSON.parse(await machine.type(`sudo -u probe ${run}`, "/opt/probe"));
      // Outside the unit, the process has only the permissions of an ordinary user.
      expect(free).toEqual({
        "write to its own folder": "done",
        "read the homes": "done",
        "read process 1": "done",
        "write to the kernel's settings": "refused",
        "open a raw socket": "refused",
        "open a socket of the kernel": "done",
        "be traced": "done",
        "make a namespace": "done",
        "make a program of its rights": "done",
      });
      await machine.type("systemctl start service-bot@probe");
      await machine.until("service-bot@probe", "ActiveState", "active");
      const follow = "journalctl --follow --unit service-bot@probe --output cat";
      const [command, ...args] = machine.command(follow);
      const following = new TestProcess(args, { command, env: { PATH: SERVER_PATH } });
      const confined = JSON.parse(await following.line((line) => line.startsWith("{")));
      const names = Object.keys(free);
      expect(confined).toEqual(Object.fromEntries(names.map((name) => [name, "refused"])));

      // The probe ignores SIGTERM, so systemd kills it after the timeout.
      const stopping = performance.now();
      await machine.type("systemctl stop service-bot@probe");
      console.info(`a bot that ignores SIGTERM was stopped in ${seconds(stopping)}`);
      expect(await machine.property("service-bot@probe", "Result")).toBe("timeout");
      const tookMs = performance.now() - stopping;
      expect(tookMs).toBeGreaterThan(stopTimeout * 1000 - 500);
      expect(tookMs).toBeLessThan(stopTimeout * 1000 + 10_000);
    });
  });
});

function seconds(started: number): string {
  return `${((performance.now() - started) / 1000).toFixed(1)} s`;
}
