import { useState } from "preact/hooks";
import { isTokenRefused, saveToken } from "../api/token.ts";
import { connection } from "../live/stream.ts";

/** Says that what is shown may be old, or asks for the control token. */
export function ConnectionNote() {
  const isRefused = isTokenRefused.value && connection.value !== "open";
  return (
    <>
      <div role="status" class="connection">
        {isRefused && (
          <p class="failure">
            The platform does not accept the control token of this page. Open the address that it
            printed at its start, or put the token here.
          </p>
        )}
        {connection.value === "lost" && !isRefused && (
          <p class="failure">
            The connection to the platform is lost; it is tried again by itself. Was it stopped?
            Start it again with <code>npm run dev</code>.
          </p>
        )}
      </div>
      {isRefused && <TokenForm />}
    </>
  );
}

/** Takes the control token. The next attempt to connect uses it. */
function TokenForm() {
  const [text, setText] = useState("");
  const submit = (event: Event) => {
    event.preventDefault();
    saveToken(text.trim());
  };
  return (
    <form class="token-form" onSubmit={submit}>
      <label>
        Control token
        <input
          type="password"
          autoComplete="off"
          required
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
      </label>
      <button type="submit">Connect</button>
    </form>
  );
}
