/** The `User-Agent` of what `service-bot doctor` asks, so that nobody takes it for the bot. */
export const DOCTOR_AGENT = "service-bot-doctor";
