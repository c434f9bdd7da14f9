// A person's way from an alarm to an approval, in a real browser: pointer, keyboard, no script, phone, dark.
//   node way.mjs BROWSER ADDRESS TOKEN SCREENSHOTS
// The server at ADDRESS has the model "garments", quiet nights, and one that set off an alarm.
import assert from "node:assert/strict";
import { createRequire } from "node:module";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const { chromium } = createRequire(join(process.env.PLAYWRIGHT_FOLDER, "package.json"))("playwright-core");
const [executablePath, address, token, pictures] = process.argv.slice(2);
const flags = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync"];
let passed = 0;
const step = (words) => { passed += 1; console.log(`ok - ${words}`); };

const open = async (options = {}) => {
  const folder = mkdtempSync(join(tmpdir(), "evenkeel-browser-"));
  const browser = await chromium.launchPersistentContext(folder, { executablePath, headless: true, args: flags, ...options });
  const page = await browser.newPage();
  page.setDefaultTimeout(60000);
  const seen = { outside: [], troubles: [], blocked: 0 };
  page.on("request", (request) => { if (!request.url().startsWith(address)) seen.outside.push(request.url()); });
  page.on("console", (message) => {
    if (message.type() !== "error") return;
    // Nothing may run in a report, not even the script that it brings for when it is mailed around.
    if (page.url().endsWith("/report") && /inline script violates/.test(message.text())) seen.blocked += 1;
    else seen.troubles.push(message.text());
  });
  page.on("pageerror", (error) => seen.troubles.push(String(error)));
  return { browser, page, seen };
};
const logIn = async (page) => {
  await page.goto(`${address}/`);
  assert.match(page.url(), /\/login/);
  await page.getByLabel("Token").fill(token);
  await page.getByLabel("Token").press("Enter");
  await page.waitForURL(`${address}/`);
};
const fits = async (page) => {
  const [inner, outer] = await page.evaluate(() => [document.documentElement.scrollWidth, window.innerWidth]);
  assert.ok(inner <= outer, `the page is ${inner} wide on a screen of ${outer}`);
};

// Without a script, in the dark: reading.
{
  const { browser, page, seen } = await open({ javaScriptEnabled: false, colorScheme: "dark", viewport: { width: 1100, height: 800 } });
  await logIn(page);
  await page.getByRole("link", { name: "garments" }).first().click();
  assert.ok(await page.locator("#trend svg").count() > 0, "no figure");
  await page.screenshot({ path: join(pictures, "model-dark-no-script.png"), fullPage: true });
  assert.deepEqual(seen.outside, []);
  await browser.close();
  step("everything can be read without a script, in the dark");
}
// On a phone.
{
  const { browser, page } = await open({ viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, deviceScaleFactor: 2 });
  await logIn(page);
  await fits(page);
  await page.screenshot({ path: join(pictures, "overview-phone.png"), fullPage: true });
  await page.getByRole("link", { name: "garments" }).first().tap();
  await page.waitForURL(/models\/garments/);
  await fits(page);
  const tallest = await page.locator("table tr").evaluateAll((rows) => Math.max(...rows.map((row) => row.clientHeight)));
  assert.ok(tallest < 90, `a row of the table is ${tallest} high`);
  await page.screenshot({ path: join(pictures, "model-phone.png"), fullPage: true });
  await browser.close();
  step("a phone shows the first screen and the model without scrolling sideways");
}
// By keyboard, from the alarm to the approval.
{
  const { browser, page, seen } = await open({ viewport: { width: 1280, height: 900 } });
  // Somebody without a token sees nothing.
  await page.goto(`${address}/models/garments`);
  assert.match(page.url(), /\/login\?next=\/models\/garments/);
  await page.getByLabel("Token").fill("ek_000000000000_wrong");
  await page.getByRole("button", { name: "Log in" }).click();
  await page.getByRole("alert").waitFor();
  seen.troubles.length = 0; // The browser reports the 401 itself.
  await logIn(page);
  step("a wrong token is refused, the right one opens the page");
  const card = page.locator(".model", { hasText: "garments" });
  const words = await card.innerText();
  assert.match(words, /Coverage now about \d+ % \(\d+-\d+\), level 90 %/);
  assert.match(words, /Alarm since \d{4}-\d\d-\d\d/);
  assert.ok(await card.evaluate((element) => ["loss", "watch"].some((name) => element.classList.contains(name))));
  await page.screenshot({ path: join(pictures, "overview.png"), fullPage: true });
  step("the first screen says which model, how bad, since when, what to do");
  for (let tab = 0; tab < 12; tab += 1) {
    await page.keyboard.press("Tab");
    if (await page.evaluate(() => document.activeElement.textContent) === "See the proposal") break;
  }
  assert.equal(await page.evaluate(() => document.activeElement.textContent), "See the proposal");
  await page.keyboard.press("Enter");
  await page.waitForURL(/#proposals$/);
  await page.screenshot({ path: join(pictures, "model.png"), fullPage: true });
  step("the keyboard leads to the proposal");
  const name = page.getByLabel("Your name");
  const reason = page.getByLabel("Reason");
  await name.fill("");
  await page.getByRole("button", { name: /^Approve/ }).click();
  assert.match(page.url(), /models\/garments/, "a decision without a name was sent");
  const before = await (await page.request.get(`${address}/v1/models/garments/calibration`)).headers();
  await name.fill("Robin <b>Operator</b>");
  await reason.fill("The camera was moved & stays there");
  await reason.press("Tab");
  assert.match(await page.evaluate(() => document.activeElement.textContent), /^Approve/);
  await page.keyboard.press("Enter");
  await page.waitForURL(`${address}/models/garments`);
  const after = await (await page.request.get(`${address}/v1/models/garments/calibration`)).headers();
  assert.notEqual(before.etag, after.etag, "the calibration is the old one");
  const text = await page.locator("main").innerText();
  assert.match(text, /approved/);
  assert.match(text, /Robin <b>Operator<\/b>/, "the name is not shown as it was written");
  assert.match(text, /The camera was moved & stays there/);
  assert.equal(await page.locator("main b", { hasText: /^Operator$/ }).count(), 0, "a name was taken for markup");
  await page.screenshot({ path: join(pictures, "approved.png"), fullPage: true });
  step("approved by keyboard: another calibration, a line of the audit log");
  await page.goto(`${address}/models/garments`);
  await page.locator("#batches tbody a").first().click();
  await page.screenshot({ path: join(pictures, "batch.png"), fullPage: true });
  await page.getByRole("link", { name: /full report/ }).click();
  await page.waitForURL(/report$/);
  await page.screenshot({ path: join(pictures, "report.png"), fullPage: true });
  step("one batch in full");
  const again = await page.request.post(`${address}/models/garments/proposals/1`, { form: { csrf: "x", who: "a", why: "b", decision: "approve" } });
  assert.equal(again.status(), 403, "a form without its mark was taken");
  const cross = await page.request.post(`${address}/v1/models/garments/proposals/1/approve`, { data: { who: "a", why: "b" }, headers: { Origin: "http://evil.example" } });
  assert.equal(cross.status(), 403, "a page of another site was heard");
  step("forms of others are refused");
  await page.goto(`${address}/`);
  await page.getByRole("button", { name: "Log out" }).click();
  await page.waitForURL(/login/);
  await page.goto(`${address}/models/garments`);
  assert.match(page.url(), /login/);
  step("logged out");
  assert.deepEqual(seen.outside, [], "a page asked another server");
  assert.deepEqual(seen.troubles, []);
  assert.ok(seen.blocked > 0, "a script ran in a report");
  step("no request left this server, and the browser had nothing to complain of");
  await browser.close();
}
console.log(`${passed} passed, 0 failed`);
