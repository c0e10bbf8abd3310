import { useShownApp } from "../../live/shown-app.tsx";
import { usePeople } from "../../live/use-people.ts";
import { Failure } from "../../parts/bits.tsx";
import { Choices, ThemeButton } from "../../shell/side.tsx";
import { Bots } from "./bots.tsx";
import { Clock } from "./clock-card.tsx";
import { Limits } from "./limits-card.tsx";
import { Blocks, Groups } from "./people.tsx";
import { Snapshots } from "./snapshots.tsx";
import { Tokens } from "./tokens.tsx";

/** Bots and tokens, the clock, limits, snapshots, blocks and groups. */
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
        <Bots apps={apps} shown={app} reload={reload} />
        {app !== undefined && <Tokens key={app.bot.username} app={app} reload={reload} />}
        <Snapshots />
        <Clock />
        <Limits />
        <Blocks names={names} />
        <Groups names={names} />
      </div>
    </>
  );
}
