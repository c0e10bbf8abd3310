import express from "express";

const app = express();
app.get("/", (_request, response) => {
  response.send("Hello World!");
});
app.listen(Number(process.env.PORT), "127.0.0.1");
