// The sign-in: one try at a time, and the unit's own sentence when it says no.

import { byId, setText } from "./kit/dom.js";

const form = byId("sign-in");

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  const button = form.querySelector("button");
  button.disabled = true;
  setText(byId("sentence"), "");
  try {
    const body = JSON.stringify({ name: form.elements.name.value, pin: form.elements.pin.value });
    const answer = await fetch("/sign-in", { method: "POST", headers: { "content-type": "application/json" }, body });
    if (answer.ok) return location.reload();
    setText(byId("sentence"), (await answer.json()).sentence);
  } catch {
    setText(byId("sentence"), "The unit does not answer.");
  }
  button.disabled = false;
});
form.dataset.ready = "yes";
