import { useState } from "preact/hooks";
import { control } from "../../api/control.ts";
import { Confirmed } from "../../parts/confirm.tsx";
import { envLines } from "../../parts/env-lines.ts";
import { SecretDialog } from "../../parts/secrets.tsx";

/** The signing secret. It is shown once, when it is made. */
export function Secret({ username }: { readonly username: string }) {
  const [secret, setSecret] = useState<string>();
  return (
    <section class="card" aria-labelledby="webhook-secret">
      <h2 id="webhook-secret">Signing secret</h2>
      <p>
        <code>whsec_••••••••</code> signs each delivery.
      </p>
      <div class="row">
        <Confirmed
          ask="Regenerate…"
          label="Regenerate the signing secret"
          title="Make a new signing secret?"
          confirm="Regenerate"
          run={async () => setSecret((await control.newSecret()).secret)}
        >
          <p>
            Deliveries to @{username} are signed with the new one at once. Until the bot has it in{" "}
            <code>SERVICE_WEBHOOK_SECRET</code>, it refuses them with 401, which counts as failures.
            This cannot be undone.
          </p>
        </Confirmed>
      </div>
      {secret !== undefined && (
        <SecretDialog
          title={`New signing secret of @${username}`}
          lines={envLines({ webhookSecret: secret })}
          onClose={() => setSecret(undefined)}
        >
          <p>
            To rotate without a gap, set both, the newest first:{" "}
            <code>SERVICE_WEBHOOK_SECRET=whsec_new,whsec_old</code>. Restart the bot, and remove the
            old one once its log no longer says “delivery signed with an old secret”.
          </p>
        </SecretDialog>
      )}
    </section>
  );
}
