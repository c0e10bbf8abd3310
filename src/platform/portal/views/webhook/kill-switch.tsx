import type { AppView } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { Badge } from "../../parts/bits.tsx";
import { Confirmed } from "../../parts/confirm.tsx";

interface KillSwitchProps {
  readonly app: AppView;
  readonly reload: () => Promise<void>;
  /** One button alone, as in a list. */
  readonly small?: boolean;
}

/** The kill switch of the app. */
export function KillSwitch({ app, reload }: KillSwitchProps) {
  return (
    <section class="card" aria-labelledby="kill-switch">
      <h2 id="kill-switch">
        Kill switch{" "}
        <Badge tone={app.disabled ? "bad" : "good"}>
          {app.disabled ? "app disabled" : "app enabled"}
        </Badge>
      </h2>
      <p>
        While an app is disabled, every request of its bot is answered with 403{" "}
        <code>APP_DISABLED</code> and nothing is delivered; events go on into its log.
      </p>
      <KillSwitchButton app={app} reload={reload} />
    </section>
  );
}

export function KillSwitchButton({ app, reload, small = false }: KillSwitchProps) {
  const { username } = app.bot;
  const disabled = !app.disabled;
  const verb = disabled ? "Disable" : "Enable";
  return (
    <Confirmed
      ask={small ? `${verb}…` : `${verb} the app…`}
      label={`${verb} the app of @${username}`}
      title={`${verb} the app of @${username}?`}
      confirm={verb}
      tone={disabled ? "danger" : "primary"}
      small={small}
      done={`The app of @${username} is ${disabled ? "disabled" : "enabled"}.`}
      run={async () => {
        await control.setApp(username, { disabled });
        await reload();
      }}
    >
      {disabled ? (
        <p>
          The bot can do nothing until the app is enabled again. What is pending for its webhook is
          not delivered later: it is in the log alone.
        </p>
      ) : (
        <p>Its requests are answered again, and its webhook sends what happens from now on.</p>
      )}
    </Confirmed>
  );
}
