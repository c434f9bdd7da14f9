// Loads the page again now and then, unless somebody is writing in it. Without this script everything can still be read and sent.
(() => {
  const main = document.getElementById("main");
  const seconds = Number(main.dataset.refresh);
  if (!seconds) return;
  const touched = () => document.activeElement?.closest("form.decide")
    || [...document.querySelectorAll("form.decide :is(input, textarea)")].some((field) => field.value !== field.defaultValue);
  setInterval(async () => {
    if (document.hidden || touched()) return;
    try {
      const answer = await fetch(location.href, { credentials: "same-origin", redirect: "error" });
      if (!answer.ok || touched()) return;
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById("main");
      if (fresh && fresh.innerHTML !== main.innerHTML) main.innerHTML = fresh.innerHTML;
    } catch { /* The server is away; the next time may find it. */ }
  }, seconds * 1000);
})();
