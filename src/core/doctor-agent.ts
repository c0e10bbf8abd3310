/** `User-Agent` of the requests of `service-bot doctor`, because they are not the bot's. */
export const DOCTOR_AGENT = "service-bot-doctor";
