import { useState } from "preact/hooks";
import { control } from "../../api/control.ts";
import { Confirmed } from "../../parts/confirm.tsx";
import { envLines } from "../../parts/env-lines.ts";
import { SecretDialog } from "../../parts/secrets.tsx";

/** The signing secret: never shown, except once when a new one was made. */
export function Secret({ username }: { readonly username: string }) {
  const [secret, setSecret] = useState<string>();
  return (
    <section class="card" aria-labelledby="webhook-secret">
      <h2 id="webhook-secret">Signing secret</h2>
      <p>
        <code>whsec_••••••••</code> Deliveries are signed with it. It is shown once, when it is
        made.
      </p>
      <Confirmed
        ask="Regenerate…"
        label="Regenerate the signing secret"
        title="Make a new signing secret?"
        confirm="Regenerate"
        run={async () => setSecret((await control.newSecret()).secret)}
      >
        <p>
          From then on every delivery to @{username} is signed with the new one. Until the bot has
          it in <code>SERVICE_WEBHOOK_SECRET</code>, it refuses deliveries with 401; they are
          repeated, and count as failures. This cannot be undone.
        </p>
      </Confirmed>
      {secret !== undefined && (
        <SecretDialog
          title={`New signing secret of @${username}`}
          lines={envLines({ webhookSecret: secret })}
          onClose={() => setSecret(undefined)}
        >
          <Rotation />
        </SecretDialog>
      )}
    </section>
  );
}

/** docs/deploying.md, "Changing the signing secret". */
function Rotation() {
  return (
    <>
      <h3>Rotation without a gap</h3>
      <ol>
        <li>
          Set both, the newest first: <code>SERVICE_WEBHOOK_SECRET=whsec_new,whsec_old</code>.
          Restart the bot: it takes deliveries signed with either.
        </li>
        <li>What it refused in between is delivered again, and is in the log of events.</li>
        <li>
          When the bot's log no longer says “delivery signed with an old secret”, take the old one
          out and restart.
        </li>
      </ol>
    </>
  );
}
