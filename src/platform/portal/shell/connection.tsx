import { isTokenRefused, saveToken } from "../api/token.ts";
import { connection } from "../live/stream.ts";
import { Form } from "../parts/form.tsx";

export function ConnectionNote() {
  const isRefused = isTokenRefused.value && connection.value !== "open";
  return (
    <>
      <div role="status">
        {isRefused && (
          <p class="failure">
            The platform rejects this page's control token. Open the URL that the platform printed
            on startup, or paste the token here.
          </p>
        )}
        {connection.value === "lost" && !isRefused && (
          <p class="failure">
            The connection to the platform is lost. The page reconnects automatically. If the
            platform has stopped, start it again: npm run dev
          </p>
        )}
      </div>
      {isRefused && (
        <Form
          tone="primary"
          label="Control token"
          submit="Connect"
          fields={[{ name: "token", label: "Control token", kind: "password", required: true }]}
          run={(values) => saveToken(values.text("token"))}
        />
      )}
    </>
  );
}
