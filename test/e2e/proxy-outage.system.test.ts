import { describe, expect, test } from "vitest";
import { reservePort } from "../support/reserve-port.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { makeCertificates } from "./proxy/certificates.ts";
import { nginx } from "./proxy/nginx.ts";
import { type ProxyOptions, type RunningProxy, startProxy, whyNoProxy } from "./proxy/proxy.ts";
import { answersTo, BotProcess, PlatformProcess } from "./proxy/world.ts";

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
      const platform = await PlatformProcess.start(folder, certificates.authority.cert);
      const bot = await BotProcess.start(folder, platform, {
        ...{ POLL_INTERVAL_MS: "50", AUDIT_INTERVAL_MS: "100", SILENCE_MS: "1000" },
      });
      const options = { folder, certificates, port: await reservePort(), bot: bot.url };
      const working = await startProxy(nginx, options);
      await platform.control.saveWebhook({ url: `https://localhost:${options.port}/webhook` });
      const before = await platform.message("before");
      await platform.delivery(before.event, 200);

      await working.stop();
      const broken = await replace(options);
      const during = await platform.message("during");
      expect((await platform.delivery(during.event, status)).error).toMatch(told);
      await platform.answer(answersTo("during")[1]);
      await bot.switched("polling");
      await platform.message("polled");
      await platform.answer(answersTo("polled")[1]);
      expect(await bot.status()).toMatchObject({ mode: "polling" });

      await broken?.stop();
      await startProxy(nginx, options);
      await bot.switched("auditing");
      const after = await platform.message("after");
      await platform.delivery(after.event, 200);
      await platform.answer(answersTo("after")[1]);
      expect(await bot.status()).toMatchObject({ mode: "auditing" });
      const texts = ["before", "during", "polled", "after"];
      expect(await platform.answers(before.conversation)).toEqual(texts.flatMap(answersTo));
      expect(bot.switches).toEqual(["polling", "auditing"]);
    },
  );
});
