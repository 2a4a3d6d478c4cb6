"""run_step() of an agent that drives, what somebody who watches asks for, what is switched off."""
import torch
from leaderboard.autoagents import autonomous_agent


class HybridAgent(autonomous_agent.AutonomousAgent):
    def run_step(self, input_data, timestamp):
        waypoints = self.net(torch.as_tensor(input_data).cuda())
        return self.control(waypoints)

    def control(self, waypoints):
        return waypoints[0].norm().item()


class WaypointPlanner:
    def run_step(self, position):
        distances = torch.cdist(self.route, torch.as_tensor(position).cuda())
        return distances.min().item()


def train(model, optimizer, loader, network_gui, viewer):
    for batch in loader:
        if network_gui.conn == None:
            network_gui.try_connect()
        while network_gui.conn != None:
            image = model.render(network_gui.receive())
            network_gui.send(image.mean().item())
        loss = model(batch)
        loss.backward()
        optimizer.step()
        if viewer is not None:
            viewer.show(loss.item())
        if False:
            print(loss.item())


def learn(model, optimizer, loader, show_demo=False):
    for batch in loader:
        loss = model(batch)
        loss.backward()
        optimizer.step()
        if show_demo:
            print(loss.item())
        if model.visualize_every_step:
            model.draw(loss.item())
