import { describe, expect, test } from "vitest";
import { reservePort } from "../support/reserve-port.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { answersTo, BotProcess } from "../support/world/bot-process.ts";
import { PlatformProcess } from "../support/world/platform-process.ts";
import { makeCertificates } from "./proxy/certificates.ts";
import { nginx } from "./proxy/nginx.ts";
import { type ProxyOptions, type RunningProxy, startProxy, whyNoProxy } from "./proxy/proxy.ts";

/** Listening on this port takes privileges that no bot should have, so the port is free. */
const NO_BOT = "http://127.0.0.1:1";

interface Outage {
  readonly name: string;
  /** Status in the delivery's record, or `null` if there was no response. */
  readonly status: number | null;
  readonly told: RegExp;
  replace(options: ProxyOptions): Promise<RunningProxy | undefined>;
}

const outages: readonly Outage[] = [
  {
    name: "is stopped",
    status: null,
    told: /^nothing is listening on localhost:\d+/,
    replace: async () => undefined,
  },
  {
    name: "passes on to nobody",
    status: 502,
    told: /^responded with 502$/,
    replace: (options) => startProxy(nginx, { ...options, bot: NO_BOT }),
  },
];

const reason = whyNoProxy(nginx);

describe.skipIf(reason !== undefined)("while the proxy", { timeout: 60_000 }, () => {
  test.each(outages)(
    "$name, polling reads the events until the webhook is back",
    async ({ status, told, replace }) => {
      const folder = temporaryFolder();
      const certificates = makeCertificates(folder);
      const platform = await PlatformProcess.start({ trusted: certificates.authority.cert });
      const bot = await BotProcess.start(platform, {
        env: { POLL_INTERVAL_MS: "50", AUDIT_INTERVAL_MS: "100", SILENCE_MS: "1000" },
      });
      const options = { folder, certificates, port: await reservePort(), bot: bot.url };
      const working = await startProxy(nginx, options);
      await platform.deliverTo(`https://localhost:${options.port}`);
      const before = await platform.write("ada", "before");
      await platform.delivery(before, 200);

      await working.stop();
      const broken = await replace(options);
      const during = await platform.write("ada", "during");
      expect((await platform.delivery(during, status)).error).toMatch(told);
      await platform.says(answersTo("during")[1]);
      await bot.switchTo("polling");
      await platform.write("ada", "polled");
      await platform.says(answersTo("polled")[1]);
      expect(await bot.status()).toMatchObject({ mode: "polling" });

      await broken?.stop();
      await startProxy(nginx, options);
      await bot.switchTo("auditing");
      const after = await platform.write("ada", "after");
      await platform.delivery(after, 200);
      await platform.says(answersTo("after")[1]);
      expect(await bot.status()).toMatchObject({ mode: "auditing" });
      const texts = ["before", "during", "polled", "after"];
      expect(await platform.answers(before.conversationId)).toEqual(texts.flatMap(answersTo));
      expect(bot.switches).toEqual(["polling", "auditing"]);
    },
  );
});
