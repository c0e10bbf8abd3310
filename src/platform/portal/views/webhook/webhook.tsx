import { control } from "../../api/control.ts";
import { useShownApp } from "../../live/shown-app.tsx";
import { Failure } from "../../parts/bits.tsx";
import { BotCard } from "./bot-card.tsx";
import { Health } from "./health-card.tsx";
import { KillSwitch } from "./kill-switch.tsx";
import { Secret } from "./secret.tsx";
import { SendTest } from "./send-test.tsx";
import { Settings } from "./settings.tsx";

/** The developer portal of section 3, with the bot's own view beside it. */
export function Webhook() {
  const { app, error, reload } = useShownApp();
  if (app === undefined) {
    return (
      <>
        <h1>Webhook</h1>
        {error !== undefined && <Failure error={error} retry={reload} />}
      </>
    );
  }
  const { username } = app.bot;
  const save = async (change: Parameters<typeof control.saveWebhook>[0]) => {
    await control.saveWebhook(change);
    await reload();
  };
  return (
    <>
      <h1>Webhook of @{username}</h1>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <div class="cards webhook-cards">
        <div>
          <Health key={username} app={app} save={save} />
          <Settings key={username} webhook={app.webhook} save={save} />
          <Secret username={username} />
          <KillSwitch app={app} reload={reload} />
        </div>
        <div>
          <BotCard username={username} />
          <SendTest key={username} app={app} />
        </div>
      </div>
    </>
  );
}
