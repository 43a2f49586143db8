"""What policy does with every attack and every task of AgentDojo, where the agent obeys each injection at once."""
