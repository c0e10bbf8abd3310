import { useShownApp } from "../../live/shown-app.tsx";
import { Failure } from "../../parts/bits.tsx";
import { Blocks } from "./blocks.tsx";
import { Bots } from "./bots.tsx";
import { Groups } from "./groups.tsx";
import { People } from "./people.tsx";
import { Snapshots } from "./snapshots.tsx";
import { Tokens } from "./tokens.tsx";
import { useWorld } from "./use-world.ts";
import { Whole } from "./whole.tsx";

/** Who lives on the platform, what the bots are let do, and the whole of it: kept, put back, taken elsewhere. */
export function State() {
  const { apps = [], app, error, reload } = useShownApp();
  const world = useWorld();
  const bots = apps.map(({ bot }) => bot.username);
  const failed = error ?? world.error;
  return (
    <>
      <h1>State</h1>
      {failed !== undefined && (
        <Failure error={failed} retry={() => Promise.all([reload(), world.reload()])} />
      )}
      <div class="columns">
        <Bots apps={apps} shown={app} reload={reload} />
        {app !== undefined && <Tokens key={app.bot.username} app={app} reload={reload} />}
        <Snapshots />
        <Whole />
        <People people={world.people} reload={world.reload} />
        <Blocks people={world.people} bots={bots} shown={app} />
        <Groups people={world.people} bots={bots} reload={world.reload} />
      </div>
    </>
  );
}
