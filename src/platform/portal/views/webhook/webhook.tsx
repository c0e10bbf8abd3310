/** To be written. */
export function Webhook() {
  return <h1>Webhook</h1>;
}
