import { useShownApp } from "../../live/shown-app.ts";
import { usePeople } from "../../live/use-people.ts";
import { Failure } from "../../parts/bits.tsx";
import { Choices, ThemeButton } from "../../shell/side.tsx";
import { Bots, Tokens } from "./bots.tsx";
import { Clock, Limits, Snapshots } from "./platform.tsx";
import { Blocks, Groups, People } from "./users.tsx";

export function Settings() {
  const { apps = [], app, error, reload } = useShownApp();
  const { people } = usePeople();
  const names = [...people.map(({ username }) => username), ...apps.map(({ bot }) => bot.username)];
  return (
    <>
      <h1>Settings</h1>
      {error !== undefined && <Failure error={error} retry={reload} />}
      <div class="columns">
        <section class="card phone" aria-label="This page">
          <Choices />
          <p class="row">
            Theme <ThemeButton />
          </p>
        </section>
        <Bots />
        {app !== undefined && <Tokens key={app.bot.username} app={app} />}
        <People />
        <Limits key={app?.bot.username} />
        <Clock />
        <Snapshots />
      </div>
      <details>
        <summary>More: blocks and groups</summary>
        <div class="columns">
          <Blocks names={names} />
          <Groups names={names} />
        </div>
      </details>
    </>
  );
}
