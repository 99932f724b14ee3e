// The words people read; the browser's copy of controller/web/words.py, and the prompts.

export const STATES = {
  open: "Open for bets",
  locked: "Bets locked",
  claim: "Win entry",
  confirm: "Confirm the win",
  offline: "Offline",
  fault: "Fault",
};

export const LIGHTS = {
  off: "",
  detected: "Chip",
  accepted: "Bet in",
  refused: "Refused",
  late: "Late",
  winner: "Winner",
  fault: "Fault",
};

export const MESSAGE_KINDS = { info: "", refused: "Not accepted", fault: "Fault" };

// What the table waits for, and from whom: [instruction, explanation].
export function prompt(claim, workflow, key) {
  if (claim.stage === "pricing")
    return ["Asking for the amount", "The Game Manager is pricing this win."];
  if (claim.stage === "recording")
    return ["Recording the win", "Wait: the Game Manager is writing it down."];
  if (claim.stage === "return-key")
    return ["Turn the key back to RUN", "The win is logged. The meter moves when the key returns."];
  if (claim.role === "DEALER")
    return ["Press CONFIRM", "Within the dealer's limit: no card or key is needed."];
  if (workflow === "keypad") return keypadPrompt(key);
  return [`Swipe ${claim.role} card`, "Check every amount first. The swipe records the win."];
}

function keypadPrompt(key) {
  if (key === "JPH") return ["Press J-POT", "Check every amount first. J-POT logs the win."];
  return ["Turn the key to JPH", "Then press J-POT to log the win."];
}
